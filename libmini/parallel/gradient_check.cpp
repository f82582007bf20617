#include "libmini/parallel/gradient_check.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/tensor/dispatch.hpp"

namespace mini::parallel {
namespace {

// A finite number times 0 is 0; infinity or NaN times 0 is NaN, and then the sum is NaN.
bool is_finite(const Tensor& x) {
    if (x.device().is_cuda()) {
        const Tensor index = Tensor::empty({}, DType::kInt64, x.device());
        on_gpu(x.device(), [&](cudaStream_t stream) {
            gpu::first_not_finite(reinterpret_cast<int64_t*>(index.raw_data()),
                                  x.contiguous_data<float>(), x.numel(), stream);
        });
        return index.item() < 0;
    }
    float sum = 0.0f;
    for (const float value : x.span<float>()) sum += value * 0.0f;
    return sum == 0.0f;
}

}  // namespace

void GradientCheck::look_at(size_t index, const Tensor& gradient) {
    if (first_bad_ < 0 && !is_finite(gradient)) first_bad_ = static_cast<int64_t>(index);
}

void GradientCheck::agree(dist::ProcessGroup& group, const nn::NamedTensors& parameters,
                          int64_t iteration) {
    const std::vector<int64_t> mine{std::exchange(first_bad_, -1)};
    const auto found = dist::all_gather_values(group, mine);
    std::vector<std::string> where;
    for (size_t rank = 0; rank < found.size(); ++rank)
        if (const int64_t index = found[rank][0]; index >= 0)
            where.push_back(
                concat(parameters[static_cast<size_t>(index)].first, " on rank ", rank));
    MINI_CHECK(where.empty(),
               "DistributedDataParallel: NaN or infinity in the gradient of ",
               join(where), ", in iteration ", iteration,
               "; skip this step, or look for its cause there");
}

}  // namespace mini::parallel
