// The messages of errors. The checks of lab 01 show the shapes.

#include "libmini/tensor/shape.hpp"

#include <cstdint>
#include <limits>

#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("an overflow is an error that names the shape and both numbers") {
    constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
    CHECK(message_of([] {
              element_count({2, kHuge});
          }) == concat("tensor: the shape (2, ", kHuge, ") is too large: 2 * ", kHuge,
                       " is above 2^63 - 1"));
}

TEST_CASE("a stride or a position above 2^63 - 1 is an error") {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    constexpr int64_t kHalf = int64_t{1} << 62;
    CHECK_THROWS_AS(contiguous_strides({0, kHalf, 2}), ShapeError);
    CHECK_THROWS_AS(contiguous_strides({2, kHalf}), ShapeError);
    CHECK(contiguous_strides({1, kMost}) == Shape{kMost, 1});
    CHECK(last_position({0, kHalf}, {1, 8}, 0) == -1);
    CHECK(last_position({2}, {kMost}, 0) == kMost);
    CHECK_THROWS_AS(last_position({3}, {kHalf}, 0), ShapeError);
    CHECK_THROWS_AS(last_position({2}, {kMost}, 1), ShapeError);
}

TEST_CASE("a view that leaves its storage is an error") {
    const Tensor x = count_up({2, 3});
    CHECK(x.as_strided({2, 2}, {1, 1}, 3).to_vector<float>() == Values{3, 4, 4, 5});
    CHECK(message_of([&] {
              x.as_strided({2, 3}, {3, 1}, 1);
          }) ==
          "as_strided: the shape (2, 3) with strides (3, 1) and offset 1 has its last "
          "element at position 6, but the storage has 6 elements");
    CHECK(message_of([&] { x.as_strided({2}, {-1}, 5); }) ==
          "as_strided: the strides (-1,) and the offset 5 must not be negative");
    CHECK(message_of([&] {
              x.as_strided({2, 3}, {1}, 0);
          }) ==
          "as_strided: the shape (2, 3) needs as many strides, but there are the strides "
          "(1,)");
    CHECK_THROWS_AS(ops::select(x, 0, 1).as_strided({4}, {1}, 3), ShapeError);
}

TEST_CASE("broadcast_dims throws for shapes that do not match") {
    CHECK(
        message_of([] {
            ops::broadcast_dims({2}, {2, 3});
        }) ==
        "broadcast: the shapes (2,) and (2, 3) differ in a dimension where neither is 1");
    CHECK_THROWS_AS(ops::broadcast_dims({2, 3}, {3}), ShapeError);
}
