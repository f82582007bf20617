// The checks of lab 06, fourth part: log-softmax in three passes and in two.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"
#include "tests/support/catch.hpp"

using namespace mini::labs;
using mini::kernels::normal_numbers;

namespace {

using Kernel = void (*)(float*, const float*, int64_t, int64_t);

// Returns log-softmax of each row, computed in double.
Values expected_of(const Values& x, int64_t rows, int64_t cols) {
    Values y(x.size());
    for (int64_t i = 0; i < rows; ++i) {
        const float* const row = x.data() + i * cols;
        const double greatest = *std::max_element(row, row + cols);
        double total = 0;
        for (int64_t j = 0; j < cols; ++j) total += std::exp(row[j] - greatest);
        for (int64_t j = 0; j < cols; ++j)
            y[static_cast<size_t>(i * cols + j)] =
                static_cast<float>(row[j] - greatest - std::log(total));
    }
    return y;
}

// Computes log-softmax, and checks it to about 10 roundings of a number below 200.
Seen check_rows(const char* name, Kernel kernel, const Values& x, int64_t rows) {
    const auto cols = static_cast<int64_t>(x.size()) / rows;
    const OnDevice on_device(x);
    const OnDevice y = unwritten_on_device(rows * cols);
    const Seen seen = watch([&] { kernel(y, on_device, rows, cols); });
    INFO(name << " of " << plural(rows, "row") << " of " << cols);
    check_no_mistake(seen);
    const std::string verdict =
        compared(y.read(), expected_of(x, rows, cols), 200 * 10 * 6e-8f);
    REQUIRE(verdict == "all elements are right");
    return seen;
}

Values scaled(int64_t n, float scale) {
    Values x = normal_numbers(n);
    for (float& value : x) value *= scale;
    return x;
}

void check_sizes(const char* name, Kernel kernel) {
    for (const int64_t cols : {1, 10, 31, 33, 100})
        for (const int64_t rows : {1, 5})
            check_rows(name, kernel, scaled(rows * cols, 1), rows);
}

}  // namespace

TEST_CASE("log-softmax in three passes", "[lab06][lab06.6]") {
    INFO("region in log_softmax_kernel; hint 1 of 06.6");
    check_sizes("log_softmax", log_softmax);
    check_rows("log_softmax", log_softmax, scaled(1500, 1), 1);
}

TEST_CASE("no exponential overflows", "[lab06][lab06.6]") {
    INFO("exp(100) is infinite in float; subtract the greatest element of the row first");
    check_rows("log_softmax", log_softmax, scaled(4 * 50, 40), 4);
    check_rows("log_softmax_online", log_softmax_online, scaled(4 * 50, 40), 4);
    INFO("numbers below -100, whose exponentials are all 0 if nothing is subtracted");
    Values low = scaled(3 * 40, 1);
    for (float& value : low) value -= 150;
    check_rows("log_softmax", log_softmax, low, 3);
    check_rows("log_softmax_online", log_softmax_online, low, 3);
}

TEST_CASE("log-softmax with a running maximum", "[lab06][lab06.6]") {
    INFO("regions of merge and log_softmax_online_kernel; hint 2 of 06.6");
    check_sizes("log_softmax_online", log_softmax_online);
    check_rows("log_softmax_online", log_softmax_online, scaled(1500, 1), 1);
}

TEST_CASE("the maximum may come first, last or in any lane", "[lab06][lab06.6]") {
    const int64_t cols = 70;
    Values rising(cols), falling(cols), spread(cols, -3.0f);
    for (int64_t j = 0; j < cols; ++j) {
        rising[static_cast<size_t>(j)] = static_cast<float>(j);
        falling[static_cast<size_t>(j)] = static_cast<float>(-j);
    }
    spread[45] = 20;
    INFO("when a greater element comes, the old sum must be scaled; hint 2 of 06.6");
    check_rows("log_softmax_online", log_softmax_online, rising, 1);
    check_rows("log_softmax_online", log_softmax_online, falling, 1);
    check_rows("log_softmax_online", log_softmax_online, spread, 1);
}

TEST_CASE("an element of minus infinity has probability 0", "[lab06][lab06.6]") {
    Values x = scaled(2 * 40, 1);
    // Lane 0 has two of them in row 0, lanes 10 and 26, which are merged, in row 1.
    for (const size_t i : {0, 3, 32, 39, 40, 50, 66}) x[i] = -mini::kernels::kInf;
    INFO(
        "a masked element, as in attention; its log-softmax is -inf, all others finite.");
    INFO("-inf - -inf is NaN: see Pitfalls");
    check_rows("log_softmax", log_softmax, x, 2);
    check_rows("log_softmax_online", log_softmax_online, x, 2);
}

TEST_CASE("a row with a NaN is NaN, and no other row", "[lab06][lab06.6]") {
    const int64_t rows = 5, cols = GENERATE(31, 33, 257);
    Values x = scaled(rows * cols, 1), expected = expected_of(x, rows, cols);
    x[static_cast<size_t>(cols * 3 + 20)] = mini::kernels::kNaN;
    for (int64_t j = cols * 3; j < cols * 4; ++j)
        expected[static_cast<size_t>(j)] = mini::kernels::kNaN;
    for (const Kernel kernel : {log_softmax, log_softmax_online}) {
        const OnDevice on_device(x), y = unwritten_on_device(rows * cols);
        check_no_mistake(watch([&] { kernel(y, on_device, rows, cols); }));
        INFO((kernel == log_softmax ? "log_softmax" : "log_softmax_online")
             << " of 5 rows of " << cols << "; row 3 has a NaN");
        CHECK(compared(y.read(), expected, 1e-5f) == "all elements are right");
    }
}

TEST_CASE("the online kernel reads a row twice", "[lab06][lab06.6]") {
    const Values x = scaled(8 * 64, 1);
    const Seen three = check_rows("log_softmax", log_softmax, x, 8);
    const Seen two = check_rows("log_softmax_online", log_softmax_online, x, 8);
    INFO("8 rows of 64: a warp per row loads 2 times 32 floats in each pass");
    {
        INFO("log_softmax: 3 passes, and x[0] if the maximum begins with it");
        CHECK(three.first().global_loads.instructions <= 8 * (2 * 3 + 1));
        check_sectors(three.first());
    }
    INFO("log_softmax_online: 2 passes, shuffles, no shared memory");
    CHECK(two.first().global_loads.instructions <= 8 * 2 * 2);
    check_sectors(two.first());
    CHECK(two.first().barriers == 0);
    CHECK(two.first().shared_loads.instructions == 0);
}
