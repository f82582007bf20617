// Our dtypes and reductions as MPI types and functions, and MPI's errors as exceptions.

#pragma once

#include <mpi.h>

#include <stdexcept>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/dtype.hpp"

namespace mini::dist {

/// An error that MPI reports.
class MpiFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws MpiFailure with `call` and MPI's error text, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Returns the MPI type for elements of `dtype`. For 16-bit floats this is a 16-bit
/// integer, whose bits only our own reductions interpret as a float.
MPI_Datatype mpi_type_of(DType dtype);

/// Returns our own reduction (collectives/reduce.hpp) as a function for MPI_Op_create.
MPI_User_function* mpi_function_of(DType dtype, ReduceOp op);

}  // namespace mini::dist
