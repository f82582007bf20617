#include "libmini/kernels/cpu/strided.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "tests/support/catch.hpp"

using mini::kernels::cpu::StridedLoop;

namespace {

using Sizes = std::vector<int64_t>;

// Returns the offset of the element with row-major index i.
int64_t offset_of(int64_t i, const Sizes& shape, const Sizes& strides) {
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0;) {
        offset += i % shape[d] * strides[d];
        i /= shape[d];
    }
    return offset;
}

// Returns how many elements for_each_run visits at a wrong offset, or not exactly once.
int64_t mistakes(const Sizes& shape, const Sizes& a, const Sizes& b) {
    const StridedLoop<2> loop(shape, {a, b});
    int64_t count = 1, wrong = 0;
    for (const int64_t size : shape) count *= size;
    std::vector<int> visits(static_cast<size_t>(count));
    std::mutex mutex;
    loop.for_each_run([&](int64_t n, int64_t first,
                          const std::array<int64_t, 2>& offsets) {
        const std::lock_guard lock(mutex);
        for (int64_t i = 0; i < n; ++i) {
            ++visits[static_cast<size_t>(first + i)];
            wrong += offset_of(first + i, shape, a) != offsets[0] + i * loop.steps()[0];
            wrong += offset_of(first + i, shape, b) != offsets[1] + i * loop.steps()[1];
        }
    });
    return wrong + std::count_if(visits.begin(), visits.end(),
                                 [](int times) { return times != 1; });
}

}  // namespace

TEST_CASE("dimensions merge only if the strides of all arrays allow it") {
    const Sizes shape = {128, 10, 576}, whole = {5760, 576, 1}, channel = {0, 1, 0};
    CHECK(StridedLoop<1>(shape, {whole}).dimensions().size() == 1);
    CHECK(StridedLoop<2>(shape, {whole, channel}).dimensions().size() == 3);
    CHECK(StridedLoop<1>(Sizes{7, 1, 3}, {Sizes{3, 99, 1}}).dimensions().size() == 1);
    CHECK(StridedLoop<1>(Sizes{}, {Sizes{}}).dimensions().size() == 1);
}

TEST_CASE("for_each_run visits each element once, at its offsets in both arrays") {
    const int threads = GENERATE(1, 3);
    mini::set_num_threads(threads);
    CAPTURE(threads);
    CHECK(mistakes({}, {}, {}) == 0);
    CHECK(mistakes({5}, {3}, {0}) == 0);
    CHECK(mistakes({3, 0, 2}, {0, 2, 1}, {1, 1, 1}) == 0);
    CHECK(mistakes({4, 1, 6}, {6, 6, 1}, {1, 5, 4}) == 0);
    CHECK(mistakes({40000}, {2}, {1}) == 0);                      // pieces of one run
    CHECK(mistakes({700, 30, 2}, {90, 3, 1}, {1, 0, 700}) == 0);  // chunks begin in a row
    CHECK(mistakes({2, 3, 5000, 7}, {9, 1, 20, 3}, {105000, 35000, 7, 1}) == 0);
    mini::set_num_threads(1);
}
