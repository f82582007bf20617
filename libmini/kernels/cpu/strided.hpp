// A loop over several arrays of one shape, each with its own strides, as a list of runs:
// within a run, each array has one constant stride.
//
// Adjacent dimensions are merged first if the strides of every array allow it. Contiguous
// arrays become one long run; if a row or a channel is broadcast, each row or channel is
// one run:
//
//     shape           strides of a    strides of b         outer dimensions    run
//     (128, 50)       (50, 1)         (50, 1)              none                6400
//     (128, 50)       (50, 1)         (0, 1)               (128)               50
//     (128, 10, 576)  (5760, 576, 1)  (0, 1, 0)            (128, 10)           576

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/core/parallel.hpp"

namespace mini::kernels::cpu {

/// Elements per chunk of an elementwise loop: enough work to be worth waking a thread.
constexpr int64_t kElementGrain = 16384;

/// The merged loop over `Arrays` arrays. Strides and offsets count elements.
template <size_t Arrays>
class StridedLoop {
  public:
    using Offsets = std::array<int64_t, Arrays>;

    struct Dimension {
        int64_t extent;
        Offsets strides;
    };

    StridedLoop(std::span<const int64_t> shape,
                std::array<std::span<const int64_t>, Arrays> strides) {
        dimensions_.reserve(shape.size() + 1);
        for (size_t d = shape.size(); d-- > 0;) {
            Offsets stride;
            for (size_t k = 0; k < Arrays; ++k) stride[k] = strides[k][d];
            add_outer_dimension(shape[d], stride);
        }
        if (dimensions_.empty()) dimensions_.push_back({1, Offsets{}});
        for (const Dimension& dimension : dimensions_) size_ *= dimension.extent;
    }

    /// Returns the stride of each array within a run.
    const Offsets& steps() const { return dimensions_[0].strides; }

    /// Returns the merged dimensions, innermost first; at least one.
    const std::vector<Dimension>& dimensions() const { return dimensions_; }

    /// Calls body(n, first, offsets) for pieces of runs, on several threads. A piece has
    /// n elements; its first element has the row-major index `first` and is at offsets[k]
    /// in array k.
    template <typename Body>
    void for_each_run(Body body) const {
        const int64_t length = dimensions_[0].extent;
        if (size_ == 0) return;
        if (dimensions_.size() == 1) {
            parallel_for(size_, kElementGrain, [&](int64_t begin, int64_t end) {
                body(end - begin, begin, offsets_of(0, begin));
            });
            return;
        }
        const int64_t grain = std::max<int64_t>(1, kElementGrain / length);
        parallel_for(size_ / length, grain, [&](int64_t begin, int64_t end) {
            for (int64_t run = begin; run < end; ++run)
                body(length, run * length, offsets_of(run, 0));
        });
    }

  private:
    // Called for the innermost dimension first.
    void add_outer_dimension(int64_t extent, const Offsets& strides) {
        if (extent == 1) return;
        if (!dimensions_.empty()) {
            Dimension& inner = dimensions_.back();
            Offsets across;  // the outer strides with which the two dimensions merge
            for (size_t k = 0; k < Arrays; ++k)
                across[k] = inner.strides[k] * inner.extent;
            if (strides == across) {
                inner.extent *= extent;
                return;
            }
        }
        dimensions_.push_back({extent, strides});
    }

    // Returns the offset of element `index` of run number `run` in each array.
    Offsets offsets_of(int64_t run, int64_t index) const {
        Offsets offsets;
        for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
        for (size_t d = 1; d < dimensions_.size(); ++d) {
            const int64_t i = run % dimensions_[d].extent;
            run /= dimensions_[d].extent;
            for (size_t k = 0; k < Arrays; ++k)
                offsets[k] += i * dimensions_[d].strides[k];
        }
        return offsets;
    }

    std::vector<Dimension> dimensions_;
    int64_t size_ = 1;
};

}  // namespace mini::kernels::cpu
