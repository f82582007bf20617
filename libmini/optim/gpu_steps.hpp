// The parameters of a GPU that take the same step, to be given to it at once: a launch costs
// more than the arithmetic of a small parameter.

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

/// Collects `Item`s, the kernel's view of a parameter, by device and by whatever else makes
/// steps differ.
template <typename Item>
class GpuSteps {
  public:
    /// `grad` is kept until the end, since the item points to it.
    void add(Device device, int64_t kind, Item item, const Tensor& grad) {
        items_[{device.index, kind}].push_back(item);
        grads_.push_back(grad);
    }

    /// Calls launch(items, kind, stream) for each device and kind.
    template <typename Launch>
    void run(const Launch& launch) const {
        if constexpr (kHasCuda)
            for (const auto& [where, items] : items_) {
                const cuda::DeviceGuard guard(where.first);
                launch(items, where.second, cuda::current_stream(where.first));
            }
    }

  private:
    std::map<std::pair<int, int64_t>, std::vector<Item>> items_;
    std::vector<Tensor> grads_;
};

}  // namespace mini::optim
