#include "libmini/data/dataset.hpp"

#include <exception>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::data {
namespace {

Example get_or_name_index(const Dataset& dataset, int64_t index) {
    try {
        return dataset.get(index);
    } catch (const std::exception& e) {
        std::throw_with_nested(Error("sample ", index, ": ", e.what()));
    }
}

// Stacks one member of all samples, data or target, to a tensor (N, ...).
Tensor stack(const std::vector<Example>& examples, Tensor Example::*part) {
    if (examples.empty()) throw UsageError("collate: there are no samples to stack");

    // Allocate (N, ...) with the shape of sample 0.
    const Tensor& first = examples.front().*part;
    Shape shape = first.shape();
    shape.insert(shape.begin(), static_cast<int64_t>(examples.size()));
    Tensor stacked = first.new_empty(shape);

    // Copy the samples one after the other.
    std::byte* to = stacked.raw_data();
    for (size_t i = 0; i < examples.size(); ++i) {
        const Tensor& sample = examples[i].*part;
        check_shape(sample.shape() == first.shape() && sample.dtype() == first.dtype(),
                    "collate: sample ", i, " of the batch is ", sample.dtype(), " ",
                    sample.shape(), " but sample 0 is ", first.dtype(), " ",
                    first.shape());
        const Tensor rows =
            ops::contiguous(sample);  // no copy, unless the sample is strided
        copy_bytes(to, stacked.device(), rows.raw_data(), rows.device(), rows.bytes());
        to += rows.bytes();
    }
    return stacked;
}

}  // namespace

Batch Dataset::get_batch(std::span<const int64_t> indices) const {
    return collate(get_each(*this, indices));
}

void Dataset::check_index(int64_t index) const {
    MINI_CHECK(index >= 0 && index < size(), "sample ", index,
               ": index out of range; the dataset has ", size());
}

std::vector<Example> get_each(const Dataset& dataset, std::span<const int64_t> indices) {
    std::vector<Example> examples;
    examples.reserve(indices.size());
    for (const int64_t index : indices)
        examples.push_back(get_or_name_index(dataset, index));
    return examples;
}

Batch collate(const std::vector<Example>& examples) {
    return {stack(examples, &Example::data), stack(examples, &Example::target)};
}

}  // namespace mini::data
