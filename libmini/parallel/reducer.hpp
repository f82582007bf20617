// Reducer: averages gradients over all ranks while the backward pass is still going on.
//
//     backward      fc2  fc1 | conv2      conv1 |
//     gradients       *    * |     *          * |
//     all-reduce             [ bucket 0 ]       [ bucket 1 ]     then backward() returns
//
// A hook on each parameter's gradient accumulator copies the gradient, divided by the
// number of ranks, into its view of a bucket. A full bucket is handed to the
// communication thread, but never before the buckets in front of it: all ranks launch the
// same all-reduces in the same order, whichever gradient comes first on whichever rank.
// At the end of the backward pass the reducer waits for all buckets; the parameters'
// gradients are then views of them.
//
// Which gradients share a bucket is a guess at first, from the last parameter to the
// first. The first pass shows in which order they really come; before the second one,
// rank 0's order is sent to all, and the buckets are rebuilt.
//
// Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel
// Training.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/ddp_options.hpp"
#include "libmini/parallel/gradient_check.hpp"

namespace mini::parallel {

class Reducer {
  public:
    /// Takes the parameters in forward order, and adds a hook to each. Throws UsageError
    /// for bucket sizes below one byte.
    Reducer(nn::NamedTensors parameters, const DDPOptions& options,
            std::shared_ptr<dist::ProcessGroup> group);

    /// Takes its hooks off the parameters.
    ~Reducer();
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;

    /// Rebuilds the buckets when the order of the gradients has become known; once,
    /// blocking, on all ranks. Throws Error when the last pass left gradients out.
    void prepare_for_forward();

    /// Expects one backward pass from `output`, and reduces in it; without this call
    /// gradients only accumulate.
    void prepare_for_backward(const Tensor& output);

    /// Takes part in one iteration of the other ranks with gradients that are zero, or
    /// what has accumulated here since the last one; blocks until it is over. This rank's
    /// gradients are then the averages, as on the other ranks, and undefined where no
    /// rank has used the parameter.
    void shadow_iteration();

    /// Uses `hook` instead of one all-reduce per bucket. Throws UsageError the second time,
    /// and after the first iteration.
    void set_comm_hook(CommHook hook);

    /// Divides sums by this number of ranks instead of all; see join.hpp.
    void divide_by(int ranks) { divisor_ = ranks; }

    const std::vector<Bucket>& buckets() const { return buckets_; }
    bool has_rebuilt_buckets() const { return is_rebuilt_; }

    /// See DistributedDataParallel.
    std::vector<int64_t> gradient_order() const { return {order_.begin(), order_.end()}; }
    void set_gradient_order(const std::vector<int64_t>& order);

  private:
    // What is known of one parameter.
    struct Slot {
        size_t bucket = 0;
        size_t slot = 0;
        int hook = 0;
        int fired = 0;        // gradients in this pass
        int expected = 1;     // in each pass; of a static graph, as in this rank's first
        bool unused = false;  // it gets no gradient in this pass, on this rank
        bool used = false;    // a gradient has come since the last pass that averaged
        bool used_somewhere = true;  // by some rank, as far as `use` has said
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
    std::vector<std::vector<size_t>> first_assignment() const;
    void make_buckets(std::vector<std::vector<size_t>> assignment);
    void rebuild_buckets();
    bool is_first_pass() const { return iterations_ == 0 && !is_rebuilt_; }

    // Rank 0's order_, on every rank: the indices of the parameters as their gradients
    // came. Every rank calls it, and all call the same collective.
    std::vector<size_t> agreed_order();

    void reset();
    void begin_pass();
    void on_gradient(size_t index);
    void check_gradient(size_t index) const;
    void mark_ready(size_t index);
    void mark_unused_ready(size_t index);
    void copy_to_bucket(size_t index, const Tensor& gradient);

    // Is called whenever a bucket has become full. Launches buckets in the order of their
    // numbers, each once: next_bucket_ and those behind it, up to the first that is not
    // full. Sets the `finish` of each bucket launched to what launch() returned, and
    // next_bucket_ to the first that is not launched. Waits for nothing.
    void launch_full_buckets();

    // Starts the reduction of a bucket and records it as kBucketLaunch. Returns at once;
    // the result is a function that waits for the end.
    FinishHook launch(size_t index);

    void learn_graph();
    void finish();
    void complete();
    std::vector<int64_t> own_use() const;

    // Sets the gradient of each parameter that is `unused` on this rank in this pass: to
    // the average, in_bucket(index), when some rank has used the parameter; otherwise it
    // stays what it was, even undefined.
    // `use[index]` is the number of ranks that have used a parameter; remember in
    // Slot::used_somewhere whether there was any. With static_graph the ranks tell each
    // other only until all have had their first pass; later `use` is empty, and what was
    // remembered holds.
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
    std::vector<Slot> slots_;    // of each parameter
    std::vector<size_t> order_;  // of the gradients in the first pass
    int64_t iterations_ = 0;     // that have finished
    size_t next_bucket_ = 0;     // the next one to launch
    bool is_rebuilt_ = false;
    bool has_learnt_ = false;       // what a static graph uses on this rank
    bool all_have_learnt_ = false;  // and every rank has told the others
    bool expecting_ = false;        // between prepare_for_backward and finish
    bool started_ = false;          // the pass has reached its first gradient
};

}  // namespace mini::parallel
