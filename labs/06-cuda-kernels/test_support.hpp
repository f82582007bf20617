// Arrays and stories for the checks of lab 06.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "labs/06-cuda-kernels/watch.hpp"
#include "labs/check/arrays.hpp"
#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::labs {

/// An array in an allocation of its own, so that the simulator sees accesses past it.
class OnDevice {
  public:
    explicit OnDevice(const Values& values) : size_(values.size()) {
        cudaMalloc(&data_, bytes());
        write(values);
    }
    ~OnDevice() { cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    operator float*() const { return data_; }

    void write(const Values& values) const {
        cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice);
    }
    Values read() const {
        Values values(size_);
        cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost);
        return values;
    }

  private:
    size_t bytes() const { return size_ * sizeof(float); }

    size_t size_;
    float* data_ = nullptr;
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

/// Returns what each wasteful line needs, as `mini cuda --count` prints it.
inline std::string counts_of(const sim::LaunchCounters& launch, bool is_wasteful) {
    return is_wasteful ? sim::describe(launch) : "";
}

/// Checks that each access to global memory fetched the fewest sectors that hold its
/// bytes.
inline void check_sectors(const sim::LaunchCounters& launch) {
    const sim::Traffic &loads = launch.global_loads, &stores = launch.global_stores;
    INFO(counts_of(launch, loads.cost + stores.cost > loads.least + stores.least));
    INFO("adjacent threads should access adjacent floats: a sector is fetched whole");
    CHECK(loads.cost == loads.least);
    CHECK(stores.cost == stores.least);
}

/// Checks that shared memory was accessed without bank conflicts.
inline void check_banks(const sim::LaunchCounters& launch) {
    const size_t passes = launch.shared_loads.cost + launch.shared_stores.cost;
    const size_t least = launch.shared_loads.least + launch.shared_stores.least;
    INFO(counts_of(launch, passes > least));
    INFO("different words of one bank (word number modulo 32) are served in turn");
    CHECK(passes == least);
}

}  // namespace mini::labs
