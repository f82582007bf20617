// A dataset for the checks: sample i is the number i, so the data of a rank show which
// samples the rank got.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::labs {

using Indices = std::vector<int64_t>;

/// Sample i has the data {i} and the target i.
class Numbered : public data::Dataset {
  public:
    explicit Numbered(int64_t size) : size_(size) {}

    int64_t size() const override { return size_; }
    data::Example get(int64_t i) const override {
        return {Tensor::from(std::vector<float>{static_cast<float>(i)}), i};
    }
    data::Batch get_batch(std::span<const int64_t> indices) const override {
        ++batches_asked_for;
        return Dataset::get_batch(indices);
    }

    mutable std::atomic<int> batches_asked_for = 0;

  private:
    int64_t size_;
};

inline Indices sorted(Indices values) {
    std::sort(values.begin(), values.end());
    return values;
}

/// Returns 0, 1, ..., n-1.
inline Indices all_of(int64_t n) {
    Indices values;
    for (int64_t i = 0; i < n; ++i) values.push_back(i);
    return values;
}

/// Returns the indices of all ranks as one list.
inline Indices together(const std::vector<Indices>& ranks) {
    Indices all;
    for (const Indices& mine : ranks) all.insert(all.end(), mine.begin(), mine.end());
    return all;
}

}  // namespace mini::labs
