#include "libmini/parallel/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libmini/core/error.hpp"
#include "libmini/tensor/on_cpu.hpp"
#include "libmini/tensor/ops.hpp"

// [lab18 file]
namespace mini::parallel {
namespace {

float magnitude(float value) {
    return std::isnan(value) ? std::numeric_limits<float>::infinity() : std::abs(value);
}

// Sets x to share times the sum of the parts; values[p] of part p are at indices[p]. At an
// index that no part has, x becomes 0.
void set_to_sum(Tensor x, const std::vector<Tensor>& values,
                const std::vector<Tensor>& indices, float share) {
    on_cpu(x, [&](Tensor& host) {
        ops::fill_(host, 0.0f);
        const std::span<float> sum = host.span<float>();
        for (size_t part = 0; part < values.size(); ++part) {
            const auto terms = values[part].to_vector<float>();
            const auto places = indices[part].to_vector<int64_t>();
            for (size_t i = 0; i < terms.size(); ++i)
                sum[static_cast<size_t>(places[i])] += share * terms[i];
        }
    });
}

}  // namespace

std::vector<int64_t> top_k_indices(std::span<const float> values, size_t k) {
    // [lab18.3] Select the k indices of largest magnitude, without sorting all of them.
    std::vector<int64_t> indices(values.size());
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const auto is_before = [&](int64_t a, int64_t b) {
        const float x = magnitude(values[static_cast<size_t>(a)]);
        const float y = magnitude(values[static_cast<size_t>(b)]);
        return x != y ? x > y : a < b;
    };
    const auto end = indices.begin() + static_cast<int64_t>(k);
    std::nth_element(indices.begin(), end, indices.end(), is_before);
    indices.resize(k);
    return indices;
    // [lab18.3]
}

CommHook top_k_hook(double compress_ratio) {
    if (!(compress_ratio > 0 && compress_ratio <= 1))
        throw UsageError(
            "top_k_hook: compress_ratio must be above 0 and at most 1, but is ",
            compress_ratio);
    return [=](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        const std::vector<float> all = bucket.buffer.to_vector<float>();
        const double k = std::ceil(compress_ratio * static_cast<double>(all.size()));
        const auto chosen = top_k_indices(all, static_cast<size_t>(k));
        std::vector<float> largest;
        for (const int64_t i : chosen) largest.push_back(all[static_cast<size_t>(i)]);
        const Tensor my_values = cpu_tensor(largest).to(bucket.buffer.device());
        const Tensor my_indices = cpu_tensor(chosen).to(bucket.buffer.device());
        // [lab18.3] Gather all ranks' values and indices; finish with the mean.
        if (bucket.sent.defined())
            set_to_sum(bucket.sent, {my_values}, {my_indices}, 1.0f);
        std::vector<Tensor> values, indices;  // of all ranks
        for (int rank = 0; rank < group.world_size(); ++rank) {
            values.push_back(my_values.new_zeros(my_values.shape()));
            indices.push_back(my_indices.new_zeros(my_indices.shape()));
        }
        const float share = 1.0f / static_cast<float>(group.world_size());
        return [values, indices, share, buffer = bucket.buffer,
                first = group.all_gather_async(values, my_values),
                second = group.all_gather_async(indices, my_indices)] {
            first->wait();
            second->wait();
            set_to_sum(buffer, values, indices, share);
        };
        // [lab18.3]
    };
}

}  // namespace mini::parallel
// [lab18 file]
