// NCCL's calls for ours: a communicator that ends with its owner, and each collective as
// what NCCL has for it.
//
//     all_reduce, broadcast, reduce          the call of that name, in place
//     reduce_scatter                         a reduce to each rank
//     all_gather, gather, scatter,           a send and a receive for each block
//     all_to_all
//
// The blocks of those below the line are tensors of their own, which need not lie one behind
// the other as NCCL's calls of that name want them. They are one group, so that NCCL runs
// them at once.

#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

#include "libmini/distributed/group/call.hpp"
#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist::nccl {

/// What NCCL says of itself.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws Failure unless `code` is success, or that a non-blocking communicator has not
/// finished the call yet.
void check(ncclResult_t code, const char* call);

/// "2.28".
std::string version();

/// A communicator that does not block its callers, of the current device.
class Communicator {
  public:
    Communicator() = default;
    ~Communicator() { abort(); }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// Begins to meet the other ranks.
    void start(int rank, int world_size, const ncclUniqueId& id);

    /// Whether all that was called is done, which for a collective means: is in its stream.
    /// Throws Failure when it failed, or what is in a stream did.
    bool is_ready() const;

    /// Begins a collective: its tensors are contiguous, on the current device, not empty. A
    /// barrier is none.
    void start(const Call& call, cudaStream_t stream) const;

    /// Blocks until all ranks have called it and what they gave is done, and frees the
    /// communicator; aborts it where that fails or takes longer.
    void finish(Deadline deadline) noexcept;

    /// Ends what is under way, on the device too.
    void abort() noexcept;

  private:
    void exchange(const Call& call, cudaStream_t stream) const;

    ncclComm_t comm_ = nullptr;
    int rank_ = 0, world_size_ = 0;
    int device_ = 0;
};

}  // namespace mini::dist::nccl
