// Our collectives as NCCL calls, and a communicator that is aborted when it is destroyed.
//
//     all_reduce, broadcast, reduce          NCCL's call of the same name, in place
//     reduce_scatter                         ncclReduce to each rank
//     all_gather, gather, scatter,           ncclSend and ncclRecv for each block
//     all_to_all
//
// In the last two rows each block is a separate tensor; NCCL's calls of the same names
// need all blocks in one buffer. The calls for the blocks form one NCCL group, so that
// NCCL runs them concurrently.

#pragma once

#include <nccl.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "libmini/distributed/group/call.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist::nccl {

/// An error that NCCL reports.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws Failure that names `call`, unless `code` is ncclSuccess or ncclInProgress (a
/// non-blocking communicator has not finished the call yet).
void check(ncclResult_t code, const char* call);

/// Returns the version of NCCL, like "2.28".
std::string version();

/// A non-blocking communicator on one device.
class Communicator {
  public:
    Communicator() = default;
    ~Communicator() { abort(); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// Starts to connect to the other ranks, on the current device; never blocks.
    /// is_ready() returns true when all ranks are connected.
    void start(int rank, int world_size, const ncclUniqueId& id);

    /// Returns whether all calls are done; the call of a collective is done when its
    /// kernel is in the stream. Throws Failure if a call or a kernel in a stream has
    /// failed.
    bool is_ready() const;

    /// Starts a collective in `stream`; never blocks. REQUIRES: the tensors are
    /// contiguous, not empty, and on the communicator's device; the call is not a
    /// barrier.
    void start(const Call& call, cudaStream_t stream) const;

    /// Blocks until all ranks have called this function and all their collectives are
    /// done, then frees the communicator. Aborts the communicator on an error, or at the
    /// deadline.
    void finish(Deadline deadline) noexcept;

    /// Ends all operations, including kernels that run on the device, and frees the
    /// communicator. Blocks for 2 s at most; another thread waits longer until is_reached
    /// returns true: whether the device has reached the first of the operations.
    void abort(const std::function<bool()>& is_reached = nullptr) noexcept;

  private:
    void exchange(const Call& call, cudaStream_t stream) const;

    ncclComm_t comm_ = nullptr;
    int rank_ = 0, world_size_ = 0;
    int device_ = 0;
};

}  // namespace mini::dist::nccl
