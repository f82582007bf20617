// Arrays and stories for the checks of lab 06.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "labs/06-cuda-kernels/watch.hpp"
#include "labs/check/arrays.hpp"
#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::labs {

/// An array on device 0 whose end is the end of its allocation: watch.cpp turns the
/// caching allocator off, so that the simulator sees accesses past it.
class OnDevice {
  public:
    explicit OnDevice(const Values& values) : size_(values.size()) {
        data_ = static_cast<float*>(cuda::allocate(bytes(), 0, nullptr));
        write(values);
    }
    ~OnDevice() { cuda::deallocate(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    operator float*() const { return data_; }

    void write(const Values& values) const {
        cuda::copy(data_, values.data(), bytes(), nullptr);
        cuda::synchronize_stream(nullptr);
    }
    Values read() const {
        Values values(size_);
        cuda::copy(values.data(), data_, bytes(), nullptr);
        cuda::synchronize_stream(nullptr);
        return values;
    }

  private:
    size_t bytes() const { return size_ * sizeof(float); }

    size_t size_;
    float* data_;
};

/// Returns an array for results, with a number that no kernel computes.
inline OnDevice unwritten_on_device(int64_t n) { return OnDevice(kernels::unwritten(n)); }

/// Returns "8 of 257 elements are wrong: element 256 is ..., should be ...", or "all
/// elements are right". Element i is right if it differs by at most `tolerance` from
/// expected[i].
inline std::string compared(const Values& got, const Values& expected,
                            float tolerance = 0.0f) {
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const float a = got[i], b = expected[i];
        const bool right =
            a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance;
        if (!right && wrong++ == 0) first = i;
    }
    if (wrong == 0) return "all elements are right";
    const bool was_there = got[first] == kernels::unwritten(1)[0];
    return concat(wrong, " of ", expected.size(), " elements are wrong: element ", first,
                  " is ", got[first],
                  was_there ? ", which was there before: no thread has written it"
                  : std::isnan(got[first])
                      ? " (NaN comes from inf - inf, inf / inf or 0 * inf)"
                      : "",
                  "; it should be ", expected[first]);
}

/// Requires that a call has made no mistake that the simulator sees.
inline void check_no_mistake(const Seen& seen) {
    INFO(seen.mistakes);
    if (!seen.mistakes.empty()) FAIL("the kernel has a mistake");
}

/// Returns "1 block" or "3 blocks".
inline std::string plural(int64_t count, const char* what) {
    return concat(count, " ", what, count == 1 ? "" : "s");
}

/// Requires a launch that the simulator has counted, without mistakes. Returns whether
/// counts can be checked: not on a GPU.
inline bool counted(const Seen& seen) {
    if (!seen.counted)
        WARN("a GPU does not count sectors and passes: configure with -DMINI_CUDA=SIM");
    check_no_mistake(seen);
    return seen.counted;
}

/// Checks that each access to global memory fetched the fewest sectors that hold its
/// bytes.
inline void check_sectors(const KernelCounts& counts) {
    INFO(counts.wasteful_lines);
    INFO("adjacent threads should access adjacent floats: a sector is fetched whole");
    CHECK(counts.load_sectors == counts.least_load_sectors);
    CHECK(counts.store_sectors == counts.least_store_sectors);
}

/// Checks that shared memory was accessed without bank conflicts.
inline void check_banks(const KernelCounts& counts) {
    INFO(counts.wasteful_lines);
    INFO("different words of one bank (word number modulo 32) are served in turn");
    CHECK(counts.passes == counts.least_passes);
}

}  // namespace mini::labs
