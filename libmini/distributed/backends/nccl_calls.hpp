// Our collectives as NCCL calls, and a communicator that its owner aborts at the end.
//
//     all_reduce, broadcast, reduce          the call of the same name, in place
//     reduce_scatter                         a reduce to each rank
//     all_gather, gather, scatter,           a send and a receive for each block
//     all_to_all
//
// The blocks of the last two rows are separate tensors; NCCL's calls of the same names
// need one block of memory. The calls for these blocks form one NCCL group, so that NCCL
// runs them concurrently.

#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

#include "libmini/distributed/group/call.hpp"
#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist::nccl {

/// An error that NCCL reports.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws Failure unless `code` is ncclSuccess, or ncclInProgress: a non-blocking
/// communicator has not finished the call yet.
void check(ncclResult_t code, const char* call);

/// Returns the version of NCCL, like "2.28".
std::string version();

/// A non-blocking communicator of the current device.
class Communicator {
  public:
    Communicator() = default;
    ~Communicator() { abort(); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// Starts to connect to the other ranks.
    void start(int rank, int world_size, const ncclUniqueId& id);

    /// Returns whether all calls are done; the call of a collective is done when its
    /// kernel is in the stream. Throws Failure if a call or a kernel in a stream has
    /// failed.
    bool is_ready() const;

    /// Starts a collective. REQUIRES: the tensors are contiguous, on the current device
    /// and not empty; it is not a barrier.
    void start(const Call& call, cudaStream_t stream) const;

    /// Frees the communicator after all ranks have called this function and all their
    /// collectives are done; blocks until then. Aborts the communicator if that fails or
    /// is not done by the deadline.
    void finish(Deadline deadline) noexcept;

    /// Ends all operations, including kernels that run on the device, and frees the
    /// communicator.
    void abort() noexcept;

  private:
    void exchange(const Call& call, cudaStream_t stream) const;

    ncclComm_t comm_ = nullptr;
    int rank_ = 0, world_size_ = 0;
    int device_ = 0;
};

}  // namespace mini::dist::nccl
