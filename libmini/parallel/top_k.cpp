#include "libmini/parallel/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libmini/core/error.hpp"
#include "libmini/tensor/on_cpu.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

// The gradients of one bucket that one rank sends: values[i] is at indices[i].
struct Sparse {
    Tensor values;   // (k)
    Tensor indices;  // (k), int64
};

float magnitude(float value) {
    return std::isnan(value) ? std::numeric_limits<float>::infinity() : std::abs(value);
}

Sparse sparse_of(const Tensor& buffer, double compress_ratio) {
    const std::vector<float> all = buffer.to_vector<float>();
    const double k = std::ceil(compress_ratio * static_cast<double>(all.size()));
    const auto indices = top_k_indices(all, static_cast<size_t>(k));
    std::vector<float> values;
    for (const int64_t index : indices) values.push_back(all[static_cast<size_t>(index)]);
    const Device device = buffer.device();
    return {cpu_tensor(values).to(device), cpu_tensor(indices).to(device)};
}

Sparse empty_like(const Sparse& x) {
    return {x.values.new_zeros(x.values.shape()), x.indices.new_zeros(x.indices.shape())};
}

// Sets x to share times the sum of `parts`; at an index that no part has, x becomes 0.
void set_to_sum(Tensor x, const std::vector<Sparse>& parts, float share) {
    on_cpu(x, [&](Tensor& host) {
        ops::fill_(host, 0.0f);
        for (const Sparse& part : parts) {
            const auto values = part.values.to_vector<float>();
            const auto indices = part.indices.to_vector<int64_t>();
            for (size_t i = 0; i < values.size(); ++i)
                host.span<float>()[static_cast<size_t>(indices[i])] += share * values[i];
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
            concat("top_k_hook: compress_ratio must be above 0 and at most 1, but is ",
                   compress_ratio));
    return [=](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        // [lab18.3] Gather all ranks' values and indices; finish with the mean.
        const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
        if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
        std::vector<Sparse> all;
        std::vector<Tensor> values, indices;
        for (int rank = 0; rank < group.world_size(); ++rank) {
            all.push_back(empty_like(mine));
            values.push_back(all.back().values);
            indices.push_back(all.back().indices);
        }
        const float share = 1.0f / static_cast<float>(group.world_size());
        return [all, share, buffer = bucket.buffer,
                first = group.all_gather_async(values, mine.values),
                second = group.all_gather_async(indices, mine.indices)] {
            first->wait();
            second->wait();
            set_to_sum(buffer, all, share);
        };
        // [lab18.3]
    };
}

}  // namespace mini::parallel
