// MPI in this process, initialized and finalized once; our dtypes and reductions as MPI
// types and functions; and MPI's errors as exceptions.

#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/core/dtype.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini::dist {

/// Throws std::runtime_error with `call` and MPI's error text, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Returns whether the operation of `request` is done; never blocks. Throws as check_mpi does.
bool is_done(MPI_Request& request);

/// Returns the MPI type for elements of `dtype`. For 16-bit floats this is a 16-bit
/// integer, whose bits only our own reductions interpret as a float.
MPI_Datatype mpi_type_of(DType dtype);

/// Returns our own reduction (collectives/reduce.hpp) as a function for MPI_Op_create.
MPI_User_function* mpi_function_of(DType dtype, ReduceOp op);

/// MPI is finalized when the process exits, unless a group has failed.
class MpiLibrary {
  public:
    /// Initializes MPI if it is not initialized. Throws Error if MPI allows calls from
    /// only one thread.
    MpiLibrary();

    /// Finalizes MPI if this object has initialized MPI and give_up() was not called.
    ~MpiLibrary();

    /// Marks MPI as failed: from now on no group can be created, and MPI is not
    /// finalized.
    void give_up() { has_failed_ = true; }

    /// Keeps memory that MPI may still access until the process exits.
    void keep(std::shared_ptr<void> in_use) { in_use_.push_back(std::move(in_use)); }
    bool has_failed() const { return has_failed_; }

  private:
    bool is_ours_ = false;
    std::atomic<bool> has_failed_ = false;
    std::vector<std::shared_ptr<void>> in_use_;
};

/// Returns the MpiLibrary of this process, created by the first call.
MpiLibrary& mpi_library();

}  // namespace mini::dist
