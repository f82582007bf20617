// Reducer: averages gradients over all ranks while the backward pass is still going on.
//
//     backward      fc2  fc1 | conv2      conv1 |
//     gradients       *    * |     *          * |
//     all-reduce             [ bucket 0 ]       [ bucket 1 ]     then backward() returns
//
// A hook on each parameter's gradient accumulator copies the gradient, divided by the
// number of ranks, into its place in a bucket. A full bucket is handed to the
// communication thread, but never before the buckets in front of it: all ranks launch the
// same all-reduces in the same order, whichever gradient comes first on whichever rank.
// At the end of the backward pass the reducer waits for all buckets; the parameters'
// gradients are then views of them.
//
// Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel Training.

#pragma once

#include <string>
#include <vector>

#include "libmini/dist/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/bucket.hpp"

namespace mini::parallel {

class Reducer {
  public:
    /// Takes the parameters in forward order and fills buckets from the last one on,
    /// closing them at the given sizes in bytes (see compute_bucket_assignment).
    Reducer(nn::NamedTensors parameters, const std::vector<int64_t>& bucket_limits,
            std::shared_ptr<dist::ProcessGroup> group);

    /// Takes its hooks off the parameters.
    ~Reducer();
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;

    /// Expects one backward pass, and reduces in it; without this call gradients only
    /// accumulate. Throws Error when the last such pass left gradients out.
    void prepare_for_backward();

    const std::vector<Bucket>& buckets() const { return buckets_; }

  private:
    struct Slot {
        size_t bucket = 0;
        size_t slot = 0;
    };

    void on_gradient(size_t place, Tensor parameter);
    void launch_full_buckets();
    void finish();
    std::string missing_gradients() const;

    nn::NamedTensors parameters_;
    std::shared_ptr<dist::ProcessGroup> group_;
    std::vector<Bucket> buckets_;
    std::vector<Slot> slots_;  // of each parameter
    std::vector<int> hooks_;   // of each parameter
    size_t next_bucket_ = 0;   // the next one to launch
    bool expecting_ = false;   // between prepare_for_backward and finish
    bool started_ = false;     // the pass has reached its first gradient
};

}  // namespace mini::parallel
