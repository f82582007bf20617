// ProcessGroup: the ranks that train together, and the operations they do together.
//
// Every rank must call the same collectives in the same order. A collective returns a
// Work at once and runs in the background, one after the other in the order of the calls;
// wait() blocks until it is done. The functions without _async are "start, then wait".
//
// Nothing waits for ever: an operation that has not finished by its timeout fails with
// Timeout, one whose peer has died with PeerLost, and both name the rank they waited for.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

/// An operation under way (`torch.distributed.Work`).
class Work {
  public:
    virtual ~Work() = default;

    /// Whether it has finished, well or badly; never blocks.
    virtual bool is_completed() const = 0;

    /// Blocks until it has finished; rethrows what it failed with.
    virtual void wait() = 0;

    /// Of a recv that has finished: the rank that sent; else -1.
    virtual int source_rank() const { return -1; }
};

/// Shared by the caller and by the thread that runs the operation.
using WorkHandle = std::shared_ptr<Work>;

class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;

    /// This process's number, 0 .. world_size - 1, and how many there are.
    virtual int rank() const = 0;
    virtual int world_size() const = 0;

    /// "threads", "ring", ...
    virtual std::string backend() const = 0;

    /// The deadline of each operation, counted from the moment its turn comes.
    virtual std::chrono::milliseconds timeout() const = 0;

    /// What happened on this rank.
    virtual EventLog& events() = 0;

    /// Starts an operation: what all functions below do. Throws at once for a call that
    /// makes no sense, see collective_of.
    virtual WorkHandle start(Call call) = 0;

    // Collectives. REQUIRES of all: tensors on one device, of equal shape and dtype on
    // all ranks, live and untouched until the Work is done. Tensors that are not
    // contiguous are copied there and back, but outputs on a GPU must be. Throw Error at
    // once for a tensor that is not so.
    //
    // On a GPU a collective comes after what the caller's current stream holds at the
    // call. wait() makes the current stream wait for the results, and blocks the host
    // only until they are queued; is_completed() says whether they are there. What fails
    // on a GPU after wait() is thrown by the group's next operation.

    /// Leaves the reduction over all ranks in `tensor` on every rank, the same bits on
    /// each (`torch.distributed.all_reduce`). kAvg needs a floating-point dtype.
    WorkHandle all_reduce_async(Tensor tensor, ReduceOp op = ReduceOp::kSum,
                                Algorithm algorithm = Algorithm::kAuto);
    void all_reduce(Tensor tensor, ReduceOp op = ReduceOp::kSum,
                    Algorithm algorithm = Algorithm::kAuto);

    /// Leaves rank `root`'s numbers in `tensor` on every rank
    /// (`torch.distributed.broadcast`).
    WorkHandle broadcast_async(Tensor tensor, int root);
    void broadcast(Tensor tensor, int root);

    /// Leaves the reduction in `tensor` on rank `root`; what `tensor` then
    /// holds on the others is unspecified (`torch.distributed.reduce`).
    WorkHandle reduce_async(Tensor tensor, int root, ReduceOp op = ReduceOp::kSum);
    void reduce(Tensor tensor, int root, ReduceOp op = ReduceOp::kSum);

    /// Leaves rank r's `input` in outputs[r] on every rank
    /// (`torch.distributed.all_gather`). REQUIRES: world_size outputs of the input's
    /// shape and dtype.
    WorkHandle all_gather_async(std::vector<Tensor> outputs, Tensor input);
    void all_gather(std::vector<Tensor> outputs, Tensor input);

    /// The same on rank `root` only; `outputs` is empty on the others
    /// (`torch.distributed.gather`).
    WorkHandle gather_async(std::vector<Tensor> outputs, Tensor input, int root);
    void gather(std::vector<Tensor> outputs, Tensor input, int root);

    /// Leaves inputs[r] of rank `root` in `output` on rank r; `inputs` is empty on the
    /// others (`torch.distributed.scatter`).
    WorkHandle scatter_async(Tensor output, std::vector<Tensor> inputs, int root);
    void scatter(Tensor output, std::vector<Tensor> inputs, int root);

    /// Leaves in `output` on rank r the reduction over all ranks' inputs[r]
    /// (`torch.distributed.reduce_scatter`).
    WorkHandle reduce_scatter_async(Tensor output, std::vector<Tensor> inputs,
                                    ReduceOp op = ReduceOp::kSum);
    void reduce_scatter(Tensor output, std::vector<Tensor> inputs,
                        ReduceOp op = ReduceOp::kSum);

    /// Leaves rank r's inputs[rank] in outputs[r] (`torch.distributed.all_to_all`).
    WorkHandle all_to_all_async(std::vector<Tensor> outputs, std::vector<Tensor> inputs);
    void all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs);

    /// Finishes when every rank has called it (`torch.distributed.barrier`).
    WorkHandle barrier_async();
    void barrier();

    // From point to point. Messages between two ranks with the same tag arrive in the
    // order in which they were sent; they do not wait for collectives, nor these for
    // them. Throw Error at once for an invalid peer, and for a tag of 2^63 or
    // more (tags.hpp).

    /// Sends `tensor` to rank `peer` (`torch.distributed.isend` and `send`). It may be
    /// done before the other side asks for it.
    WorkHandle send_async(Tensor tensor, int peer, uint64_t tag = 0);
    void send(Tensor tensor, int peer, uint64_t tag = 0);

    /// Receives into `tensor` from rank `peer`, or with kAnySource from the first rank
    /// that sends (`torch.distributed.irecv` and `recv`). The latter returns the sender.
    WorkHandle recv_async(Tensor tensor, int peer, uint64_t tag = 0);
    int recv(Tensor tensor, int peer, uint64_t tag = 0);

    /// A group of some of this one's ranks, numbered in the order given
    /// (`torch.distributed.new_group`). Every rank of this group must call it, with the
    /// same list; blocks until all have. Null on ranks that are not members. Throws
    /// UsageError on all ranks for a list that makes no sense or is not the same.
    virtual std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) = 0;

    /// Waits for what is under way and closes the connections; later operations throw.
    /// Throws what has failed on a GPU after wait() and was not thrown by any call since.
    /// Called by the destructor too, which drops what is under way instead.
    virtual void shutdown() = 0;
};

/// A send or recv to be started with others (`torch.distributed.P2POp`).
struct PointOperation {
    Operation operation = Operation::kSend;  // or kRecv
    Tensor tensor;
    int peer = -1;
    uint64_t tag = 0;
};

/// Starts them all; their Works, in the same order
/// (`torch.distributed.batch_isend_irecv`).
std::vector<WorkHandle> batch_isend_irecv(ProcessGroup& group,
                                          const std::vector<PointOperation>& operations);

struct MonitoredBarrierOptions {
    std::chrono::milliseconds timeout = std::chrono::seconds(30);

    /// Wait for the whole timeout and name every rank that did not come, not the first.
    bool wait_all_ranks = false;
};

/// A barrier that rank 0 watches over: it throws Timeout naming the rank, or all ranks,
/// that did not reach it in time; the others get to know
/// (`torch.distributed.monitored_barrier`). Costs P-1 messages to and from rank 0.
void monitored_barrier(ProcessGroup& group, MonitoredBarrierOptions options = {});

}  // namespace mini::dist
