// MPI's names for our types and operations, and its errors as exceptions.

#pragma once

#include <mpi.h>

#include <stdexcept>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/dtype.hpp"

namespace mini::dist {

/// What MPI says of itself.
class MpiFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws MpiFailure with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// The type that messages of `dtype` have; the 16-bit floats are two bytes that only our
/// own reductions look into.
MPI_Datatype mpi_type_of(DType dtype);

/// Our own reduction, for MPI_Op_create: what algorithms/reduce.hpp does.
MPI_User_function* mpi_function_of(DType dtype, ReduceOp op);

}  // namespace mini::dist
