#include "libmini/data/dataset.hpp"

#include <cstring>
#include <exception>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::data {
namespace {

Example get_or_name_index(const Dataset& dataset, int64_t index) {
    try {
        return dataset.get(index);
    } catch (const std::exception& e) {
        std::throw_with_nested(Error(concat("sample ", index, ": ", e.what())));
    }
}

}  // namespace

Batch Dataset::get_batch(std::span<const int64_t> indices) const {
    std::vector<Example> examples;
    examples.reserve(indices.size());
    for (const int64_t index : indices)
        examples.push_back(get_or_name_index(*this, index));
    return collate(examples);
}

Batch collate(const std::vector<Example>& examples) {
    if (examples.empty()) throw UsageError("collate: there are no samples to stack");

    // Make room for all samples, shaped as the first one is.
    const Tensor& first = examples.front().data;
    const int64_t N = static_cast<int64_t>(examples.size());
    Shape shape = first.shape();
    shape.insert(shape.begin(), N);
    Batch batch{Tensor::empty(shape, first.dtype()), Tensor::empty({N}, DType::kInt64)};

    // Copy one after the other.
    std::byte* to = batch.data.raw_data();
    int64_t* target = batch.target.data<int64_t>();
    for (int64_t i = 0; i < N; ++i) {
        const Tensor& sample = examples[static_cast<size_t>(i)].data;
        check_shape(sample.shape() == first.shape() && sample.dtype() == first.dtype(),
                    "collate: sample ", i, " of the batch is ", sample.dtype(), " ",
                    sample.shape(), " but sample 0 is ", first.dtype(), " ",
                    first.shape());
        const Tensor rows =
            ops::contiguous(sample);  // a handle, unless it is a strided view
        if (rows.bytes() > 0) std::memcpy(to, rows.raw_data(), rows.bytes());
        to += rows.bytes();
        target[i] = examples[static_cast<size_t>(i)].target;
    }
    return batch;
}

}  // namespace mini::data
