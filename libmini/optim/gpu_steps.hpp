// Groups the parameters on a GPU that take the same step, so that one kernel launch
// handles a whole group: for a small parameter, a launch costs more than the arithmetic.

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

/// Collects `Item`s by device and `kind`. An `Item` describes one parameter to the
/// kernel. Parameters with the same kind take the same step.
template <typename Item>
class GpuSteps {
  public:
    /// Adds a parameter. Keeps `grad` alive, since the item points to it.
    void add(Device device, int64_t kind, Item item, const Tensor& grad) {
        items_[{device.index, kind}].push_back(item);
        grads_.push_back(grad);
    }

    /// Calls launch(items, kind, stream) for each device and kind.
    template <typename Launch>
    void run(const Launch& launch) const {
        for (const auto& [key, items] : items_)
            on_gpu(Device::cuda(key.first),
                   [&, &key = key, &items = items](cudaStream_t stream) {
                       launch(items, key.second, stream);
                   });
    }

  private:
    std::map<std::pair<int, int64_t>, std::vector<Item>> items_;  // by device and kind
    std::vector<Tensor> grads_;
};

}  // namespace mini::optim
