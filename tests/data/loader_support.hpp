// Helpers of the DataLoader's tests.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "libmini/data/loader.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;

/// Returns the indices of a batch of Numbers, computed from its targets.
inline Indices indices_of(const mini::data::Batch& batch) {
    Indices indices = batch.target.to_vector<int64_t>();
    for (int64_t& i : indices) i /= 3;
    return indices;
}

/// Reads a whole epoch, and returns the indices of its batches.
inline Batches read(mini::data::DataLoader::Epoch epoch) {
    Batches batches;
    while (const std::optional<mini::data::Batch> batch = epoch.next())
        batches.push_back(indices_of(*batch));
    CHECK_FALSE(epoch.next());
    return batches;
}

/// Numbers that calls `hook(i)` before it returns sample i.
class Hooked : public Numbers {
  public:
    Hooked(int64_t size, std::function<void(int64_t)> hook)
        : Numbers(size), hook_(std::move(hook)) {}
    mini::data::Example get(int64_t i) const override {
        hook_(i);
        return Numbers::get(i);
    }

  private:
    std::function<void(int64_t)> hook_;
};
