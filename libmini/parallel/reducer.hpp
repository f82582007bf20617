// Reducer: averages gradients over all ranks while the backward pass is still running.
//
//     backward      fc2  fc1 | conv2      conv1 |
//     gradients       *    * |     *          * |
//     all-reduce             [ bucket 0 ]       [ bucket 1 ]     then backward() returns
//
// A hook on each parameter's gradient accumulator copies the gradient, divided by the
// number of ranks, into its view of a bucket. A full bucket goes to the communication
// thread only after all buckets with lower numbers. So all ranks launch the same
// all-reduces in the same order, even if their gradients become ready in different
// orders. At the end of the backward pass the reducer waits for all buckets; the
// parameters' gradients are then views of the buckets.
//
// At first the buckets are filled from the last parameter to the first, as a guess of the
// order in which gradients become ready. The first pass shows the real order; before the
// second pass, rank 0's order is broadcast, and the buckets are rebuilt.
//
// Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel
// Training.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/ddp_options.hpp"
#include "libmini/parallel/gradient_check.hpp"

namespace mini::parallel {

class Reducer {
  public:
    /// Adds a hook to each parameter; `parameters` is in forward order. Throws UsageError
    /// for bucket sizes below one byte.
    Reducer(nn::NamedTensors parameters, const DDPOptions& options,
            std::shared_ptr<dist::ProcessGroup> group);

    /// Removes its hooks from the parameters.
    ~Reducer();
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;

    /// Rebuilds the buckets once, after the first iteration has shown the order of the
    /// gradients: this one call broadcasts rank 0's order, and blocks until the order has
    /// arrived. Throws Error if the last backward pass did not finish its reduction.
    void prepare_for_forward();

    /// Makes the next backward pass, from `output`, average the gradients. Without this
    /// call a backward pass only accumulates gradients on this rank.
    void prepare_for_backward(const Tensor& output);

    /// Returns whether the next backward pass, or the running one, averages gradients.
    bool averages_next() const { return expecting_; }

    /// Takes part in one iteration of the other ranks, also in prepare_for_forward(), as
    /// in a pass after zero_grad() in which this rank uses no parameter: its gradients
    /// are zero, or have accumulated on this rank since the last averaged iteration.
    /// Blocks until all buckets are averaged. Afterwards this rank's gradients are the averages, as on the
    /// other ranks; the gradient of a parameter that no rank has used is undefined.
    void shadow_iteration();

    /// Uses `hook` instead of one all-reduce per bucket. Throws UsageError if a hook is
    /// already set, or if the first backward pass that averages has begun.
    void set_comm_hook(CommHook hook);

    /// Divides gradient sums by `ranks` instead of the world size; see
    /// JoinOptions::divide_by_initial_world_size.
    void divide_by(int ranks) { divisor_ = ranks; }

    const std::vector<Bucket>& buckets() const { return buckets_; }
    bool has_rebuilt_buckets() const { return is_rebuilt_; }

    /// See DistributedDataParallel.
    std::vector<int64_t> gradient_order() const { return {order_.begin(), order_.end()}; }
    void set_gradient_order(const std::vector<int64_t>& order);

  private:
    // The state of one parameter.
    struct Slot {
        size_t bucket = 0;  // the index in buckets_
        size_t slot = 0;    // the position in this bucket
        int hook = 0;       // the id for remove_hook()
        std::shared_ptr<AccumulateGrad> accumulator = nullptr;  // has the hook
        int fired = 0;        // number of gradients so far in this pass
        int expected = 1;     // gradients per pass; static_graph: as in the first pass
        bool unused = false;  // the parameter gets no gradient in this pass, on this rank
        bool used = false;    // a gradient has come since the last averaged pass
        bool used_somewhere = true;  // at least one rank has used the parameter
    };

    Tensor tensor(size_t index) const { return parameters_[index].second; }
    Bucket& bucket_of(size_t index) { return buckets_[slots_[index].bucket]; }
    Tensor in_bucket(size_t index) {
        return bucket_of(index).gradient(slots_[index].slot);
    }
    bool is_learning() const { return options_.static_graph && !has_learnt_; }
    bool may_rebuild() const {
        return options_.static_graph || !options_.find_unused_parameters;
    }

    std::vector<Tensor> tensors(const std::vector<size_t>& indices) const;
    int64_t bucket_cap_bytes() const;

    // Returns the buckets of the first pass, filled from the last parameter to the first.
    // With torch_first_iteration, as PyTorch does: filled from the first parameter on, and
    // the list of buckets reversed; one bucket if the buckets will be rebuilt.
    std::vector<std::vector<size_t>> first_assignment() const;
    void make_buckets(std::vector<std::vector<size_t>> assignment);
    void rebuild_buckets();
    bool is_first_pass() const { return iterations_ == 0 && !is_rebuilt_; }

    // Returns rank 0's order_ on every rank: the parameters' indices in the order in
    // which their gradients became ready. Every rank must call agreed_order(), and in it
    // the same collective.
    std::vector<size_t> agreed_order();

    void reset();

    // Called at the first gradient of a pass that averages: queues finish(), and marks
    // the parameters ready that are `unused`.
    void begin_pass();

    // Called by the hook of parameter `index`, in every backward pass. In a pass that
    // averages, records kGradReady, also while the static graph is learnt.
    void on_gradient(size_t index);

    // Throws Error if this gradient was not expected.
    void check_gradient(size_t index) const;

    // Makes grad() a view of the bucket, and then copies the gradient into the bucket: a
    // communication hook, which the copy may call, may set grad() or free the buffer.
    void mark_ready(size_t index);

    // Contributes the parameter's old gradient to the average, or zeros if it has none.
    // Keeps the old gradient outside of the bucket: if no rank has used the parameter,
    // grad() does not change.
    void mark_unused_ready(size_t index);

    // Allocates the bucket's buffer if a communication hook has freed it; copies the
    // gradient, divided by divisor_, or undivided for a communication hook. If the bucket
    // is full then, records kBucketReady and launches.
    void copy_to_bucket(size_t index, const Tensor& gradient);

    // Called whenever a bucket has become full. Launches buckets in the order of their
    // numbers, each once: starts at next_bucket_ and stops at the first bucket that is
    // not full. Sets the `finish` of each launched bucket to the result of launch(), and
    // next_bucket_ to the first bucket that has not been launched. Does not block.
    void launch_full_buckets();

    // Starts the reduction of a bucket and records it as kBucketLaunch. Returns
    // immediately; the result is a function that waits for the reduction.
    FinishHook launch(size_t index);

    // Ends this rank's first pass with static_graph: stores the number of gradients of
    // each parameter, which is the same in all later passes; then marks all parameters
    // ready, in the order of their indices.
    void learn_graph();

    // Called once at the end of a pass that averages: records kBackwardEnd, learns the
    // static graph, throws Error if a bucket was not launched, and completes.
    void finish();

    // Waits for the buckets, in the order of their numbers, and records kBucketDone for
    // each. Throws Error that names the bucket if its `finish` is empty. Then calls
    // check_not_freed() and set_unused_gradients(), if this pass has unused parameters or
    // the ranks exchange their use. At the end the GradientCheck of the iteration, the
    // first of which has number 1.
    void complete();

    // Returns one entry per parameter: 1 if this rank contributes a gradient (with
    // static_graph, in every pass), otherwise 0. One more entry, the last, is 1 if this
    // rank has learnt the static graph.
    std::vector<int64_t> own_use() const;

    // Sets the gradient of each parameter that is `unused` on this rank in this pass and
    // that at least one rank has used: to the average, in_bucket(index). The gradient of
    // a parameter that no rank has used does not change, even if it is undefined.
    // use[index] is the number of ranks that have used parameter `index`; for every
    // parameter, stores in Slot::used_somewhere whether use[index] is above 0. `use` is
    // empty if the ranks did not exchange it in this pass (static_graph, after every
    // rank's first pass): then the stored values of Slot::used_somewhere apply.
    void set_unused_gradients(const std::vector<int64_t>& use);
    void warn_of_needless_search() const;
    std::string missing_gradients() const;
    [[noreturn]] void throw_unlaunched() const;

    nn::NamedTensors parameters_;
    const DDPOptions options_;
    std::shared_ptr<dist::ProcessGroup> group_;
    CommHook comm_hook_;
    GradientCheck check_;
    int divisor_;
    std::vector<Bucket> buckets_;
    std::vector<Slot> slots_;    // one per parameter
    std::vector<size_t> order_;  // indices, as gradients became ready in the first pass
    int64_t iterations_ = 0;     // finished iterations
    size_t next_bucket_ = 0;     // the next bucket to launch
    bool is_rebuilt_ = false;
    bool has_learnt_ = false;       // static_graph: this rank has had its first pass
    bool all_have_learnt_ = false;  // static_graph: every rank has had its first pass
    bool expecting_ = false;        // from prepare_for_backward() to complete()
    bool started_ = false;          // the pass has reached its first gradient
};

}  // namespace mini::parallel
