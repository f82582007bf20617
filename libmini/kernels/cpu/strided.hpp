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
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libmini/core/parallel.hpp"

namespace mini::kernels::cpu {

/// Elements per chunk of an elementwise loop: enough work to be worth waking a thread.
constexpr int64_t kElementGrain = 16384;

/// The merged loop over `Arrays` arrays, 1 or 2. Strides and offsets count elements.
template <size_t Arrays>
class StridedLoop {
  public:
    using Offsets = std::array<int64_t, Arrays>;

    struct Dimension {
        int64_t extent;
        Offsets strides;
    };

    StridedLoop(std::span<const int64_t> shape,
                std::array<std::span<const int64_t>, Arrays> strides);

    /// Returns the stride of each array within a run.
    const Offsets& steps() const { return dimensions_[0].strides; }

    /// Returns the merged dimensions, innermost first; at least one.
    const std::vector<Dimension>& dimensions() const { return dimensions_; }

    /// Returns the number of elements.
    int64_t size() const { return size_; }

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
        const Dimension& rows = dimensions_[1];
        const int64_t grain = std::max<int64_t>(1, kElementGrain / length);
        parallel_for(size_ / length, grain, [&](int64_t begin, int64_t end) {
            for (int64_t run = begin; run < end;) {
                // Within a row of runs, each run is one step after the run before.
                Offsets offsets = offsets_of(run, 0);
                const int64_t row_end = run + rows.extent - run % rows.extent;
                for (const int64_t stop = std::min(end, row_end); run < stop; ++run) {
                    body(length, run * length, offsets);
                    for (size_t k = 0; k < Arrays; ++k) offsets[k] += rows.strides[k];
                }
            }
        });
    }

  private:
    // Adds the next dimension of the shape: called for the innermost dimension first.
    // Leaves out a dimension of extent 1. Merges the dimension with the last of
    // dimensions_ if one step in the new dimension is, in every array, as far as all
    // steps of the last one.
    void add_outer_dimension(int64_t extent, const Offsets& strides);

    // Returns the offset of element `index` of run number `run` in each array. The run
    // is dimensions_[0]. Runs are numbered row by row: run + 1 has the next index in
    // dimensions_[1], or 0 there and the next index in dimensions_[2], and so on.
    Offsets offsets_of(int64_t run, int64_t index) const;

    std::vector<Dimension> dimensions_;
    int64_t size_ = 1;
};

}  // namespace mini::kernels::cpu
