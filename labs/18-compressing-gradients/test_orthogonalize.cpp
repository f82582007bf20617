// The checks of lab 18, task 18.4: orthonormal columns.

#include <cmath>
#include <cstdint>
#include <vector>

#include "labs/18-compressing-gradients/test_support.hpp"
#include "libmini/parallel/orthogonalize.hpp"

using namespace mini;
using namespace mini::lab18;

namespace {

Values orthogonal(const Values& x, int64_t r, double epsilon = 0.0) {
    Tensor matrix = Tensor::from(x, {static_cast<int64_t>(x.size()) / r, r});
    parallel::orthogonalize(matrix, epsilon);
    return values_of({matrix});
}

}  // namespace

TEST_CASE("columns become orthogonal and of length 1", "[lab18][lab18.4]") {
    const Values found = orthogonal({3, 1, 4, 2}, 2);
    INFO(
        "the columns (3, 4) and (1, 2): the first becomes (0.6, 0.8); the projection of");
    INFO("the second on it is 2.2 (0.6, 0.8), which leaves (-0.32, 0.24), of length 0.4");
    INFO("got " << labs::rows_of(found, 2) << "; hint 1 of 18.4 helps");
    CHECK(largest_difference(found, {0.6f, -0.8f, 0.8f, 0.6f}) < 1e-6);

    const size_t r = 4;
    const Values many = orthogonal(draw(30 * r, 1), r);
    for (size_t a = 0; a < r; ++a)
        for (size_t b = 0; b <= a; ++b) {
            INFO("30 rows, 4 columns: the dot product of columns " << a << " and " << b);
            CHECK(dot(many, r, a, b) == about(a == b ? 1.0 : 0.0, 1e-6));
        }
}

TEST_CASE("each column stays in the space of the columns up to it", "[lab18][lab18.4]") {
    const size_t r = 3;
    const Values before = draw(20 * r, 2), after = orthogonal(before, r);
    for (size_t a = 0; a < r; ++a) {
        double rest = dot(before, r, a, a);
        for (size_t b = 0; b <= a; ++b) {
            double along = 0.0;
            for (size_t row = 0; row < before.size(); row += r)
                along += static_cast<double>(before[row + a]) * after[row + b];
            rest -= along * along;
        }
        INFO("the old column " << a << " must be a combination of the new columns 0 to "
                               << a << ", so begin with the first column");
        CHECK(std::abs(rest) < 1e-5 * dot(before, r, a, a));
    }
}

TEST_CASE("nearly parallel columns become orthogonal too", "[lab18][lab18.4]") {
    Values values;
    for (const float x : draw(500, 4))
        values.insert(values.end(), {x, x + 1e-3f * x * x});
    const Values found = orthogonal(values, 2);
    INFO(
        "the columns x and x + x²/1000: after one subtraction a rounding error of the "
        "long");
    INFO("old column is left, and grows when the short rest is scaled to length 1;");
    INFO("the dot product is " << dot(found, 2, 0, 1)
                               << "; a second subtraction removes it: hint 2 of 18.4");
    CHECK(std::abs(dot(found, 2, 0, 1)) < 1e-6);
    INFO("what is left of the second column is about 5e-4 of it, more than the 1e-5 of");
    INFO("rounding errors, so it is scaled to length 1; its squared length is "
         << dot(found, 2, 1, 1));
    CHECK(dot(found, 2, 1, 1) == about(1, 1e-6));
}

TEST_CASE("a column that depends on the previous columns becomes zero",
          "[lab18][lab18.4]") {
    Values values;
    for (const float x : draw(50, 5)) values.insert(values.end(), {x, 3 * x, x * x, 0});
    const Values found = orthogonal(values, 4);
    INFO(
        "the columns x, 3x, x² and 0: the second and the last become zero; what is left");
    INFO("of 3x is rounding errors, and scaled to length 1 it would be noise");
    INFO("the lengths are " << dot(found, 4, 0, 0) << " " << dot(found, 4, 1, 1) << " "
                            << dot(found, 4, 2, 2) << " " << dot(found, 4, 3, 3)
                            << "; hint 3 of 18.4 helps");
    CHECK(dot(found, 4, 0, 0) == about(1, 1e-6));
    CHECK(dot(found, 4, 1, 1) == 0);
    CHECK(dot(found, 4, 2, 2) == about(1, 1e-6));
    CHECK(dot(found, 4, 3, 3) == 0);
    CHECK(std::abs(dot(found, 4, 0, 2)) < 1e-6);
    INFO(
        "an epsilon does not make rounding errors longer: with 0.001, 3x becomes zero "
        "too");
    CHECK(dot(orthogonal(values, 4, 0.001), 4, 1, 1) == 0);
}

TEST_CASE("tiny columns count as much as large ones", "[lab18][lab18.4]") {
    const Values found = orthogonal({3e-8f, 1e-8f, 4e-8f, 2e-8f}, 2);
    INFO("the columns (3, 4) and (1, 2) times 1e-8: gradients are often that small;");
    INFO("what is a rounding error depends on the old length of the column; got "
         << labs::rows_of(found, 2) << "; hint 3 of 18.4 helps");
    CHECK(largest_difference(found, {0.6f, -0.8f, 0.8f, 0.6f}) < 1e-5);
}

TEST_CASE("epsilon is added to the length of a column", "[lab18][lab18.4]") {
    const Values found = orthogonal({3, 4}, 1, 5.0);
    INFO("(3, 4) has the length 5; with an epsilon of 5 it is divided by 10; got "
         << in_words(found));
    CHECK(largest_difference(found, {0.3f, 0.4f}) < 1e-6);
}
