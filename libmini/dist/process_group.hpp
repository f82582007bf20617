// ProcessGroup: the ranks that train together, and the operations they do together.
//
// Every rank must call the same collectives in the same order. A collective returns a
// Work at once and runs on the group's communication thread, one after the other in the
// order of the calls; wait() blocks until it is done. The synchronous functions below are
// "start, then wait".
//
// Nothing waits for ever: a collective that has not finished by the group's timeout fails
// with Timeout, one whose peer has died with PeerLost, and both name the rank they waited
// for.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/dist/reduce_op.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::dist {

/// A collective under way (`torch.distributed.Work`).
class Work {
  public:
    virtual ~Work() = default;

    /// Whether it has finished, well or badly; never blocks.
    virtual bool is_completed() const = 0;

    /// Blocks until it has finished; rethrows what it failed with.
    virtual void wait() = 0;
};

class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;

    /// This process's number, 0 .. world_size - 1, and how many there are.
    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// "threads", "ring", ...
    virtual std::string backend() const = 0;

    /// The deadline of each collective, counted from the moment its turn comes.
    virtual std::chrono::milliseconds timeout() const = 0;

    /// What happened on this rank.
    virtual EventLog& events() = 0;

    // Asynchronous operations. REQUIRES: the tensors are contiguous, on the CPU, of equal
    // shape and dtype (float32, int64 or uint8) on all ranks, and live and untouched
    // until the Work is done. Throw Error at once for a tensor that is not so.

    /// Leaves the reduction over all ranks in `tensor` on every rank, the same bits on
    /// each (`torch.distributed.all_reduce`). kAvg needs float32.
    virtual std::shared_ptr<Work> all_reduce_async(Tensor tensor,
                                                   ReduceOp op = ReduceOp::kSum) = 0;

    /// Leaves rank `root`'s numbers in `tensor` on every rank
    /// (`torch.distributed.broadcast`).
    virtual std::shared_ptr<Work> broadcast_async(Tensor tensor, int root) = 0;

    /// Leaves rank r's `input` in outputs[r] on every rank
    /// (`torch.distributed.all_gather`). REQUIRES: world_size outputs of the input's
    /// shape and dtype.
    virtual std::shared_ptr<Work> all_gather_async(std::vector<Tensor> outputs,
                                                   Tensor input) = 0;

    /// Finishes when every rank has called it (`torch.distributed.barrier`).
    virtual std::shared_ptr<Work> barrier_async() = 0;

    // The same, blocking.
    void all_reduce(Tensor tensor, ReduceOp op = ReduceOp::kSum) {
        all_reduce_async(std::move(tensor), op)->wait();
    }
    void broadcast(Tensor tensor, int root) {
        broadcast_async(std::move(tensor), root)->wait();
    }
    void all_gather(std::vector<Tensor> outputs, Tensor input) {
        all_gather_async(std::move(outputs), std::move(input))->wait();
    }
    void barrier() { barrier_async()->wait(); }

    /// Waits for what is under way and closes the connections; later operations throw.
    /// Called by the destructor too, which drops what is under way instead.
    virtual void shutdown() = 0;
};

struct InitOptions {
    /// "ring" (processes) or "threads" (ranks of dist::run_threads).
    std::string backend = "ring";

    /// "env://" reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; "tcp://host:port"
    /// takes rank and world size from below, or from "?rank=R&world_size=W" behind it.
    std::string init_method = "env://";
    int rank = -1;
    int world_size = -1;
    std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Whether this build can make groups of `backend`.
bool is_available(const std::string& backend);

/// Meets the other ranks and makes the default group of this rank; blocks until all are
/// there. Throws UsageError for options or variables that are missing or wrong, Timeout
/// naming the ranks that did not come, Error when called twice
/// (`torch.distributed.init_process_group`).
std::shared_ptr<ProcessGroup> init_process_group(InitOptions options = {});

/// Whether this rank has a default group; the group. The latter throws Error when there
/// is none.
bool is_initialized();
std::shared_ptr<ProcessGroup> default_group();

/// Makes `group` this rank's default group: what run_threads does for each of its
/// threads.
void set_default_group(std::shared_ptr<ProcessGroup> group);

/// Of the default group.
int get_rank();
int get_world_size();

/// Shuts the default group down (`torch.distributed.destroy_process_group`).
void destroy_process_group();

}  // namespace mini::dist
