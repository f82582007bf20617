// ProcessGroup: a set of ranks, and the operations between them.
//
// Every rank must call the same collectives in the same order. The functions with _async
// return a Work immediately; the collectives run in the background, one after another in
// call order, and Work::wait() blocks until that collective is done. The functions
// without _async start the operation and wait for it; two threads must not call blocking
// collectives of one group at the same time.
//
// No operation waits forever: it fails with Timeout after its timeout, or with PeerLost
// if a peer has died. Both errors name the rank that caused it, if it is known. The errors
// of a subgroup use the subgroup's rank numbers, and end with a note that translates
// them: "[ranks 0 and 1 of group 1 are ranks 2 and 3 of the job]". PeerLost::rank() is the
// rank in the job.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

/// An operation in flight (`torch.distributed.Work`).
class Work {
  public:
    virtual ~Work() = default;

    /// Returns whether the operation has finished, successfully or not; never blocks.
    virtual bool is_completed() const = 0;

    /// Blocks until the operation has finished; rethrows its exception if it failed.
    virtual void wait() = 0;

    /// Returns the rank that sent the message, if this is a recv that has finished; else
    /// -1.
    virtual int source_rank() const { return -1; }
};

/// Shared by the caller and by the thread that runs the operation.
using WorkHandle = std::shared_ptr<Work>;

class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;

    /// Returns the rank of this process, 0 .. world_size - 1.
    virtual int rank() const = 0;

    /// Returns the number of ranks.
    virtual int world_size() const = 0;

    /// Returns the name of the group, equal on all its ranks: "default"; for the N-th call
    /// of new_group on the default group "group N", and for the M-th call on that group
    /// "group N.M".
    virtual std::string name() const { return "default"; }

    /// Returns the ranks of the job that are the members, by rank in this group: for the
    /// default group 0 to world_size() - 1.
    virtual std::vector<int> world_ranks() const;

    /// Returns the name of the backend: "threads", "ring", ...
    virtual std::string backend() const = 0;

    /// Returns the default timeout of each operation. The timeout of a collective starts
    /// when the collective starts to run, not when it is called.
    virtual std::chrono::milliseconds timeout() const = 0;

    /// Returns the log of events on this rank.
    virtual EventLog& events() = 0;

    /// Starts an operation; all functions below call start(). Throws immediately if the
    /// call is invalid, see collective_of. If caller_waits(), may run the operation and
    /// return a Work that is done.
    virtual WorkHandle start(Call call) = 0;

    // Collectives. All REQUIRE: the tensors are on one device, with equal shape and dtype
    // on all ranks; the caller does not access the tensors until the Work is done.
    // Non-contiguous tensors are copied to contiguous tensors and back, but outputs on a
    // GPU must be contiguous. All throw Error immediately for an invalid tensor, also
    // for tensors that share memory; see collective_of.
    //
    // On a GPU, a collective runs after the work that is in the caller's current stream
    // at the call. wait() makes the current stream wait for the results, and blocks the
    // host only until the results are queued; is_completed() returns whether the device
    // is done. If a GPU error occurs after wait() has returned, the group's next
    // operation throws it.

    /// Reduces `tensor` over all ranks and leaves the result, which is bitwise identical
    /// on all ranks, in `tensor` on every rank (`torch.distributed.all_reduce`). kAvg
    /// needs a floating-point dtype.
    WorkHandle all_reduce_async(Tensor tensor, ReduceOp op = ReduceOp::kSum,
                                Algorithm algorithm = Algorithm::kAuto);
    void all_reduce(Tensor tensor, ReduceOp op = ReduceOp::kSum,
                    Algorithm algorithm = Algorithm::kAuto);

    /// Copies rank `root`'s `tensor` to `tensor` on every rank
    /// (`torch.distributed.broadcast`).
    WorkHandle broadcast_async(Tensor tensor, int root);
    void broadcast(Tensor tensor, int root);

    /// Reduces `tensor` over all ranks into `tensor` on rank `root`; the contents of
    /// `tensor` on other ranks are then unspecified (`torch.distributed.reduce`).
    WorkHandle reduce_async(Tensor tensor, int root, ReduceOp op = ReduceOp::kSum);
    void reduce(Tensor tensor, int root, ReduceOp op = ReduceOp::kSum);

    /// Copies rank r's `input` to outputs[r] on every rank
    /// (`torch.distributed.all_gather`). REQUIRES: world_size outputs of the input's
    /// shape and dtype.
    WorkHandle all_gather_async(std::vector<Tensor> outputs, Tensor input);
    void all_gather(std::vector<Tensor> outputs, Tensor input);

    /// Copies rank r's `input` to outputs[r] on rank `root`; `outputs` is empty on other
    /// ranks (`torch.distributed.gather`).
    WorkHandle gather_async(std::vector<Tensor> outputs, Tensor input, int root);
    void gather(std::vector<Tensor> outputs, Tensor input, int root);

    /// Copies inputs[r] of rank `root` to `output` on rank r; `inputs` is empty on other
    /// ranks (`torch.distributed.scatter`).
    WorkHandle scatter_async(Tensor output, std::vector<Tensor> inputs, int root);
    void scatter(Tensor output, std::vector<Tensor> inputs, int root);

    /// Reduces inputs[r] over all ranks into `output` on rank r, which may be inputs[r]
    /// (`torch.distributed.reduce_scatter`).
    WorkHandle reduce_scatter_async(Tensor output, std::vector<Tensor> inputs,
                                    ReduceOp op = ReduceOp::kSum);
    void reduce_scatter(Tensor output, std::vector<Tensor> inputs,
                        ReduceOp op = ReduceOp::kSum);

    /// Copies inputs[rank] of rank r to outputs[r] on every rank
    /// (`torch.distributed.all_to_all`).
    WorkHandle all_to_all_async(std::vector<Tensor> outputs, std::vector<Tensor> inputs);
    void all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs);

    // The same with one tensor for the blocks of all ranks: views of `output` and `input`
    // are passed on, so nothing is copied. All throw ShapeError unless that tensor is
    // contiguous and has the right number of elements.

    /// Copies rank r's `input` to part r of `output`, which has world_size times as many
    /// elements; `input` may be part rank() of `output`
    /// (`torch.distributed.all_gather_into_tensor`).
    WorkHandle all_gather_into_tensor_async(Tensor output, Tensor input);
    void all_gather_into_tensor(Tensor output, Tensor input);

    /// Reduces part r of `input` over all ranks into `output` on rank r; `input` has
    /// world_size times as many elements, and `output` may be its part rank()
    /// (`torch.distributed.reduce_scatter_tensor`).
    WorkHandle reduce_scatter_tensor_async(Tensor output, Tensor input,
                                           ReduceOp op = ReduceOp::kSum);
    void reduce_scatter_tensor(Tensor output, Tensor input, ReduceOp op = ReduceOp::kSum);

    /// Copies part r of `input` to rank r, and to part r of `output` what rank r sends to
    /// this rank. Part r has input_split_sizes[r] or output_split_sizes[r] indices of the
    /// first dimension; without sizes, all parts are equal
    /// (`torch.distributed.all_to_all_single`). All ranks pass sizes, or none does. Throws
    /// Error if a rank sends another number of elements than the receiver expects.
    WorkHandle all_to_all_single_async(Tensor output, Tensor input,
                                       Shape output_split_sizes = {},
                                       Shape input_split_sizes = {});
    void all_to_all_single(Tensor output, Tensor input, Shape output_split_sizes = {},
                           Shape input_split_sizes = {});

    /// Blocks until every rank has called the barrier; barrier_async returns a Work that
    /// is done then (`torch.distributed.barrier`).
    WorkHandle barrier_async();
    void barrier();

    // Point-to-point messages. Messages between two ranks with the same tag arrive in the
    // order in which they were sent. Messages do not wait for collectives, and
    // collectives do not wait for messages. All throw Error immediately for an invalid
    // peer or a tag of 2^63 or more (tags.hpp).

    /// Sends `tensor` to rank `peer` (`torch.distributed.isend` and `send`). The send may
    /// be done before the receiver calls recv.
    WorkHandle send_async(Tensor tensor, int peer, uint64_t tag = 0);
    void send(Tensor tensor, int peer, uint64_t tag = 0);

    /// Receives into `tensor` from rank `peer`; if `peer` is kAnySource, from the first
    /// rank that sends (`torch.distributed.irecv` and `recv`), and ranks may leave the
    /// group as long as one is left. recv() returns the sender's rank.
    WorkHandle recv_async(Tensor tensor, int peer, uint64_t tag = 0);
    int recv(Tensor tensor, int peer, uint64_t tag = 0);

    /// Creates a subgroup of `ranks`, numbered in the given order
    /// (`torch.distributed.new_group`). Every rank of this group must call new_group with
    /// the same list; blocks until all have. Returns null on ranks that are not members.
    /// Throws UsageError on all ranks if the list is invalid or not the same on all
    /// ranks.
    virtual std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) = 0;

    /// Blocks until all started operations are done, and closes the connections; later
    /// operations throw. Throws a GPU error that occurred after wait() had returned, if
    /// no other call has thrown it. The destructor also closes the connections, but drops
    /// the operations that are not done.
    virtual void shutdown() = 0;

  protected:
    /// Returns whether this thread is in a blocking collective.
    bool caller_waits() const { return waiting_ == std::this_thread::get_id(); }

  private:
    template <typename Start>
    void wait_alone(const char* name, const Start& start);

    std::atomic<std::thread::id> waiting_{};  // the thread in a blocking collective
};

/// Returns the ranks of the job that are the members of `group`, by rank in the group
/// (`torch.distributed.get_process_group_ranks`).
std::vector<int> get_process_group_ranks(const ProcessGroup& group);

/// Returns the rank of the job that is rank `group_rank` of `group`. Throws UsageError if
/// there is no such rank (`torch.distributed.get_global_rank`).
int get_global_rank(const ProcessGroup& group, int group_rank);

/// Returns the rank in `group` of rank `global_rank` of the job. Throws UsageError if that
/// rank is not a member (`torch.distributed.get_group_rank`).
int get_group_rank(const ProcessGroup& group, int global_rank);

struct MonitoredBarrierOptions {
    std::chrono::milliseconds timeout = std::chrono::seconds(30);

    /// Whether the error names every missing rank, not only the lowest.
    bool wait_all_ranks = false;
};

/// Blocks until every rank has called monitored_barrier. If a rank does not call it in
/// time, rank 0 throws Timeout that names the lowest missing rank, or all missing ranks,
/// and the waiting ranks throw too (`torch.distributed.monitored_barrier`). Costs P-1
/// messages to rank 0 and P-1 messages from rank 0.
void monitored_barrier(ProcessGroup& group, MonitoredBarrierOptions options = {});

}  // namespace mini::dist
