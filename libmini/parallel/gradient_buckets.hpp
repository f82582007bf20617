// GradientBuckets: which gradients share a bucket, in which order.
//
// For the first pass the buckets are filled from the last parameter to the first, since
// backward begins at the last layer. This pass shows in which order the gradients become
// ready; before the second pass, rank 0 broadcasts its order, and the buckets are rebuilt.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/ddp_options.hpp"

namespace mini::parallel {

class GradientBuckets {
  public:
    /// Throws UsageError for bucket sizes below one byte; `parameters` is in forward order.
    GradientBuckets(nn::NamedTensors parameters, const DDPOptions& options,
                    dist::ProcessGroup& group);

    const std::vector<Bucket>& all() const { return buckets_; }
    size_t size() const { return buckets_.size(); }
    Bucket& operator[](size_t number) { return buckets_[number]; }

    /// Return the bucket of parameter `index`, and the view of its gradient there.
    size_t bucket_of(size_t index) const { return slots_[index].bucket; }
    size_t slot_of(size_t index) const { return slots_[index].slot; }
    Tensor view(size_t index) const {
        return buckets_[bucket_of(index)].gradient(slot_of(index));
    }

    /// Return the parameter `index`, and the parameters of these indices.
    Tensor parameter(size_t index) const { return parameters_[index].second; }
    std::vector<Tensor> parameters(const std::vector<size_t>& indices) const;

    /// Begins a pass: no gradient is ready.
    void begin_pass();

    /// In the first pass, appends `index` to the order of the gradients, once.
    void note_gradient(size_t index);

    /// Ends a pass. After the first pass the order of all parameters is known.
    void end_pass();

    /// Returns whether the first pass has reached a gradient.
    bool have_begun() const { return have_begun_; }

    /// Rebuilds the buckets once, in rank 0's order, if they may be rebuilt and the order
    /// is known; blocks until the order has arrived from rank 0.
    void rebuild_if_due();
    bool is_rebuilt() const { return is_rebuilt_; }

    /// See DistributedDataParallel::gradient_order and set_gradient_order.
    std::vector<int64_t> order() const { return {order_.begin(), order_.end()}; }
    void set_order(const std::vector<int64_t>& order);

    /// Throws Error that says why bucket `number` was not launched in this pass.
    [[noreturn]] void throw_unlaunched(size_t number) const;

    /// Throws Error that says why the last pass has not ended: a gradient was missing, or a
    /// collective or communication hook has failed.
    [[noreturn]] void throw_unfinished() const;

    /// Throws Error, which names the bucket, if a communication hook has freed the memory of
    /// a bucket: then no average can become the gradient of an unused parameter.
    void check_not_freed() const;

  private:
    // Where the gradient of a parameter is.
    struct Slot {
        size_t bucket = 0;  // the index in buckets_
        size_t slot = 0;    // the position in this bucket
    };

    void make(std::vector<std::vector<size_t>> assignment);
    void rebuild();

    // Returns the names of the parameters whose gradients are not ready, each after a space.
    std::string missing() const;

    // Returns rank 0's order_ on every rank. Every rank must call agreed_order(), and in it
    // the same collective.
    std::vector<size_t> agreed_order();

    nn::NamedTensors parameters_;
    std::vector<int64_t> limits_;  // of the first bucket, and of the others, in bytes
    bool may_rebuild_;
    dist::ProcessGroup& group_;
    std::vector<Bucket> buckets_;
    std::vector<Slot> slots_;    // one per parameter
    std::vector<size_t> order_;  // indices, as gradients became ready in the first pass
    bool have_begun_ = false;
    bool is_learning_ = true;  // the order is not known: the first pass has not ended
    bool is_rebuilt_ = false;
};

}  // namespace mini::parallel
