// The checks of lab 01, second part: views by the names that PyTorch gives them, and
// broadcasting. They read elements through the storage, so that no kernel is needed.

#include <cstdint>
#include <string>
#include <utility>

#include "labs/01-tensor/test_support.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/shape.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::Shape, mini::ShapeError, mini::Tensor, mini::dimension;
using mini::labs::Values, mini::labs::count_up, mini::labs::elements, mini::labs::layout;
using mini::ops::broadcast_dims, mini::ops::broadcast_shapes, mini::ops::expand,
    mini::ops::narrow, mini::ops::permute, mini::ops::select, mini::ops::transpose;

TEST_CASE("a negative dimension counts from the end", "[lab01][lab01.3]") {
    const Shape shape = {2, 3, 4};
    INFO("shape (2, 3, 4): dimensions 0 1 2, or -3 -2 -1");
    CHECK(dimension("size", shape, 0) == 0);
    CHECK(dimension("size", shape, 2) == 2);
    CHECK(dimension("size", shape, -1) == 2);
    CHECK(dimension("size", shape, -2) == 1);
    CHECK(dimension("size", shape, -3) == 0);
    INFO("Tensor::size calls it");
    CHECK(count_up(shape).size(-2) == 3);
}

TEST_CASE("a dimension that does not exist is an error with the function's name",
          "[lab01][lab01.3]") {
    for (const int64_t d : {3, -4, 7, -7}) {
        INFO("shape (2, 3, 4) has dimensions -3 to 2; asked for " << d);
        const std::string message = mini::test::message_of<ShapeError>([&] {
            dimension("squeeze", {2, 3, 4}, d);
        });
        INFO("the message: " << message);
        INFO("it must begin with squeeze, the name that dimension() was given");
        CHECK(message.starts_with("squeeze"));
    }
    INFO("a scalar has no dimensions at all");
    CHECK_THROWS_AS(dimension("squeeze", {}, 0), ShapeError);
    CHECK_THROWS_AS(dimension("squeeze", {}, -1), ShapeError);
}

TEST_CASE("permute takes each dimension's size and stride along", "[lab01][lab01.3]") {
    {
        const Tensor x = count_up({2, 3});
        const Tensor t = permute(x, {1, 0});
        INFO("x is 0 1 2 / 3 4 5, permute(x, (1, 0)) its transpose; yours has "
             << layout(t));
        CHECK(t.shape() == Shape{3, 2});
        CHECK(t.strides() == Shape{1, 3});
        CHECK(elements(t) == Values{0, 3, 1, 4, 2, 5});
        CHECK(t.shares_storage(x));
    }
    const Tensor p = permute(count_up({2, 3, 4}), {2, 0, 1});
    INFO(
        "shape (2, 3, 4), strides (12, 4, 1), dims (2, 0, 1): dimension 0 of the result");
    INFO("is dimension 2 of x, dimension 1 is 0, dimension 2 is 1; yours has "
         << layout(p));
    CHECK(p.shape() == Shape{4, 2, 3});
    CHECK(p.strides() == Shape{1, 12, 4});
}

TEST_CASE("a permuted view can be permuted again", "[lab01][lab01.3]") {
    const Tensor x = count_up({2, 3, 4});
    INFO("dims (1, 2, 0) put back what (2, 0, 1) has done");
    const Tensor back = permute(permute(x, {2, 0, 1}), {1, 2, 0});
    CHECK(layout(back) == layout(x));
    INFO("negative dimensions are allowed: (-1, 0, -2) is (2, 0, 1)");
    CHECK(layout(permute(x, {-1, 0, -2})) == layout(permute(x, {2, 0, 1})));
    INFO("so are a scalar, an empty tensor and a view that does not begin at 0");
    CHECK(permute(Tensor::scalar(3), {}).numel() == 1);
    CHECK(permute(count_up({2, 0, 3}), {2, 1, 0}).shape() == Shape{3, 0, 2});
    const Tensor part = x.as_strided({2, 3}, {3, 1}, 6);
    CHECK(elements(permute(part, {1, 0})) == Values{6, 9, 7, 10, 8, 11});
}

TEST_CASE("transpose exchanges two dimensions", "[lab01][lab01.3]") {
    const Tensor x = count_up({2, 3, 4});
    const Tensor part = mini::ops::permute(x, {0, 2, 1});
    const Tensor y = mini::ops::transpose(x, 1, -1);
    INFO("x has shape (2, 3, 4); transpose(x, 1, -1) is permute(x, (0, 2, 1))");
    CHECK(y.shape() == part.shape());
    CHECK(elements(y) == elements(part));
    CHECK(y.shares_storage(x));
    CHECK(elements(mini::ops::transpose(y, 2, 1)) == elements(x));
    INFO("any two dimensions, and a view that begins at 6");
    CHECK(layout(transpose(x, -3, 2)) == "shape (4, 3, 2), strides (1, 4, 12), offset 0");
    CHECK(elements(transpose(x.as_strided({2, 3}, {3, 1}, 6), 0, 1)) ==
          Values{6, 9, 7, 10, 8, 11});
    CHECK_THROWS_AS(transpose(x, 0, 3), ShapeError);
    CHECK_THROWS_AS(transpose(x, 0, -4), ShapeError);
    CHECK_THROWS_AS(transpose(x, -4, 0), ShapeError);
}

TEST_CASE("permute must be given each dimension once", "[lab01][lab01.3]") {
    const Tensor x = count_up({3, 3, 3});
    INFO(
        "three equal sizes: with a dimension repeated the shape looks right, and the "
        "view");
    INFO("stays in the storage, so as_strided cannot notice the mistake");
    CHECK_THROWS_AS(permute(x, {1, 1, 2}), ShapeError);
    CHECK_THROWS_AS(permute(x, {2, 0, 2}), ShapeError);
    INFO("-2 is dimension 1");
    CHECK_THROWS_AS(permute(x, {1, -2, 2}), ShapeError);
    CHECK_THROWS_AS(permute(x, {0, 1, 3}), ShapeError);
    CHECK_THROWS_AS(permute(x, {0, 1}), ShapeError);
}

TEST_CASE("narrow changes one size and the offset", "[lab01][lab01.4]") {
    const Tensor x = count_up({3, 4});
    {
        const Tensor n = narrow(x, 1, 1, 2);
        INFO(
            "x is 0 1 2 3 / 4 5 6 7 / 8 9 10 11; narrow(x, 1, 1, 2) is its columns 1 "
            "and");
        INFO("2; yours has " << layout(n));
        CHECK(layout(n) == "shape (3, 2), strides (4, 1), offset 1");
        CHECK(elements(n) == Values{1, 2, 5, 6, 9, 10});
        CHECK(n.shares_storage(x));
    }
    const Tensor rows = narrow(x, 0, 1, 2);
    INFO("narrow(x, 0, 1, 2) is rows 1 and 2; yours has " << layout(rows));
    CHECK(layout(rows) == "shape (2, 4), strides (4, 1), offset 4");
    CHECK(layout(narrow(x, -1, 1, 2)) == layout(narrow(x, 1, 1, 2)));
    CHECK(layout(narrow(x, 1, -3, 2)) == layout(narrow(x, 1, 1, 2)));
    CHECK(layout(narrow(x, 0, 0, 3)) == layout(x));
}

TEST_CASE("a view can be narrowed again", "[lab01][lab01.4]") {
    const Tensor x = count_up({3, 4});
    {
        const Tensor inner = narrow(narrow(x, 0, 1, 2), 1, 2, 2);
        INFO("rows 1 and 2, of these columns 2 and 3: 6 7 / 10 11; yours has "
             << layout(inner));
        CHECK(elements(inner) == Values{6, 7, 10, 11});
    }
    const Tensor t = narrow(permute(x, {1, 0}), 0, 1, 2);
    INFO(
        "the transpose has shape (4, 3), strides (1, 4); its rows 1 and 2 are columns "
        "of");
    INFO("x, 1 element apart; yours has " << layout(t));
    CHECK(elements(t) == Values{1, 5, 9, 2, 6, 10});
}

TEST_CASE("narrow throws if an index is not in the dimension", "[lab01][lab01.4]") {
    const Tensor big = count_up({8, 8});
    const Tensor x = big.as_strided({3, 4}, {8, 1}, 0);
    INFO(
        "x has shape (3, 4), and is a part of a larger tensor: the storage goes on "
        "after");
    INFO("its last column, so as_strided cannot notice the mistake");
    CHECK_THROWS_AS(narrow(x, 1, 3, 2), ShapeError);
    CHECK_THROWS_AS(narrow(x, 1, 0, 5), ShapeError);
    CHECK_THROWS_AS(narrow(x, 0, 3, 1), ShapeError);
    CHECK_THROWS_AS(narrow(x.as_strided({3, 4}, {8, 1}, 9), 1, -5, 2), ShapeError);
    CHECK_THROWS_AS(narrow(x, 1, -1, 2), ShapeError);
    CHECK_THROWS_AS(narrow(x, 1, 2, -1), ShapeError);
    CHECK_THROWS_AS(narrow(x, 2, 0, 1), ShapeError);
    INFO("length 0 is allowed, also at the end, but not beyond it");
    CHECK(narrow(x, 1, 4, 0).shape() == Shape{3, 0});
    CHECK(narrow(x, 0, 1, 0).numel() == 0);
    CHECK_THROWS_AS(narrow(x, 1, 5, 0), ShapeError);
}

TEST_CASE("select moves the offset and removes the dimension", "[lab01][lab01.4]") {
    const Tensor x = count_up({3, 4});
    {
        const Tensor column = select(x, 1, 3);
        INFO("x is 0 1 2 3 / 4 5 6 7 / 8 9 10 11; select(x, 1, 3) is column 3; yours has "
             << layout(column));
        CHECK(layout(column) == "shape (3,), strides (4,), offset 3");
        CHECK(elements(column) == Values{3, 7, 11});
        CHECK(column.shares_storage(x));
    }
    const Tensor row = select(x, 0, 2);
    {
        INFO("select(x, 0, 2) is row 2; yours has " << layout(row));
        CHECK(layout(row) == "shape (4,), strides (1,), offset 8");
    }
    {
        INFO("a column of a row is an element, a tensor of shape ()");
        CHECK(layout(select(row, 0, 1)) == "shape (), strides (), offset 9");
    }
    INFO("a negative dimension, a negative index, and a view that begins at 5");
    CHECK(layout(select(x, -1, 3)) == layout(select(x, 1, 3)));
    CHECK(layout(select(x, -2, -1)) == layout(row));
    CHECK(elements(select(x.as_strided({2, 3}, {4, 1}, 5), 0, 1)) == Values{9, 10, 11});
    const Tensor cube = count_up({2, 3, 4});
    INFO("select(cube, 1, 2) of shape (2, 3, 4) leaves dimensions 0 and 2");
    CHECK(layout(select(cube, 1, 2)) == "shape (2, 4), strides (12, 1), offset 8");
}

TEST_CASE("select throws if the index is not in the dimension", "[lab01][lab01.4]") {
    const Tensor big = count_up({8, 8});
    const Tensor x = big.as_strided({3, 4}, {8, 1}, 9);
    INFO("x has shape (3, 4) and is a part of a larger tensor: as_strided cannot notice");
    INFO("the mistake");
    for (const int64_t index : {3, 4, -4}) {
        INFO("dimension 0 has indices 0, 1 and 2, or -3, -2 and -1; asked for " << index);
        CHECK_THROWS_AS(select(x, 0, index), ShapeError);
    }
    CHECK_THROWS_AS(select(x, 2, 0), ShapeError);
    CHECK_THROWS_AS(select(Tensor::scalar(1), 0, 0), ShapeError);
    INFO("a dimension of size 0 has no index; but a row of an empty tensor is empty");
    const Tensor empty = count_up({2, 0});
    CHECK_THROWS_AS(select(empty, 1, 0), ShapeError);
    CHECK(select(empty, 0, 1).shape() == Shape{0});
}

TEST_CASE("shapes are matched from the last dimension", "[lab01][lab01.5]") {
    {
        INFO("(4, 3) and (3,): 3 matches 3, and (3,) has no second dimension, which");
        INFO("counts as 1");
        CHECK(broadcast_shapes({4, 3}, {3}) == Shape{4, 3});
        CHECK(broadcast_shapes({3}, {4, 3}) == Shape{4, 3});
    }
    {
        INFO("(4, 1) and (3,): every pair of a row and a column");
        CHECK(broadcast_shapes({4, 1}, {3}) == Shape{4, 3});
        CHECK(broadcast_shapes({5, 1, 3}, {4, 1}) == Shape{5, 4, 3});
    }
    CHECK(broadcast_shapes({}, {2, 3}) == Shape{2, 3});
    CHECK(broadcast_shapes({}, {}).empty());
    INFO("a size of 1 is expanded to any size, also to 0");
    CHECK(broadcast_shapes({1}, {0}) == Shape{0});
    CHECK(broadcast_shapes({2, 0}, {2, 1}) == Shape{2, 0});
}

TEST_CASE("two different sizes match only if one of them is 1", "[lab01][lab01.5]") {
    CHECK_THROWS_AS(broadcast_shapes({4, 3}, {4}), ShapeError);
    CHECK_THROWS_AS(broadcast_shapes({2, 3}, {4, 3}), ShapeError);
    CHECK_THROWS_AS(broadcast_shapes({6}, {3}), ShapeError);
    INFO("a size of 0 is not expanded either: only 1 is");
    CHECK_THROWS_AS(broadcast_shapes({0}, {3}), ShapeError);
    CHECK_THROWS_AS(broadcast_shapes({3}, {0}), ShapeError);
}

TEST_CASE("expand repeats elements by a stride of 0", "[lab01][lab01.5]") {
    const Tensor row = count_up({3});
    {
        const Tensor wide = expand(row, {2, 3});
        INFO("0 1 2, expanded to (2, 3), is 0 1 2 / 0 1 2 on three elements of storage;");
        INFO("yours has " << layout(wide));
        CHECK(layout(wide) == "shape (2, 3), strides (0, 1), offset 0");
        CHECK(elements(wide) == Values{0, 1, 2, 0, 1, 2});
        CHECK(wide.shares_storage(row));
    }
    const Tensor column = count_up({2, 1});
    INFO("0 / 1, expanded to (2, 3), is 0 0 0 / 1 1 1; yours has "
         << layout(expand(column, {2, 3})));
    CHECK(expand(column, {2, 3}).strides() == Shape{1, 0});
    CHECK(elements(expand(column, {2, 3})) == Values{0, 0, 0, 1, 1, 1});
    CHECK(expand(Tensor::scalar(7), {2, 3}).strides() == Shape{0, 0});
    INFO("a size that stays keeps its stride, also in a view");
    const Tensor t = transpose(count_up({2, 3}), 0, 1);
    CHECK(expand(t, {4, 3, 2}).strides() == Shape{0, 1, 3});
    CHECK(elements(expand(row.as_strided({1}, {1}, 2), {3})) == Values{2, 2, 2});
    CHECK(expand(count_up({1}), {0}).numel() == 0);
}

TEST_CASE("expand throws if a size is neither kept nor 1", "[lab01][lab01.5]") {
    INFO("the last size 3 is not 4, and not 1");
    CHECK_THROWS_AS(expand(count_up({3}), {2, 4}), ShapeError);
    INFO("nor is 3 to 1, 4 to 2, or two dimensions to one");
    CHECK_THROWS_AS(expand(count_up({3}), {3, 1}), ShapeError);
    CHECK_THROWS_AS(expand(count_up({4}), {2}), ShapeError);
    CHECK_THROWS_AS(expand(count_up({2, 3}), {3}), ShapeError);
}

TEST_CASE("the reverse of broadcasting sums the dimensions that were repeated",
          "[lab01][lab01.5]") {
    {
        INFO("a bias of shape (3,) was added to each of 4 rows: its gradient is the sum");
        INFO("over dimension 0 of (4, 3)");
        CHECK(broadcast_dims({3}, {4, 3}) == Shape{0});
    }
    {
        INFO("(3, 1) to (2, 3, 4): dimension 0 was added, dimension 2 expanded from 1");
        CHECK(broadcast_dims({3, 1}, {2, 3, 4}) == Shape{0, 2});
    }
    CHECK(broadcast_dims({}, {2, 3}) == Shape{0, 1});
    CHECK(broadcast_dims({2, 3}, {2, 3}).empty());
    {
        INFO("equal sizes of 1 were not expanded; but an added dimension of size 1 is");
        INFO("summed, too, since the result must not have it");
        CHECK(broadcast_dims({1, 3}, {1, 3}).empty());
        CHECK(broadcast_dims({3}, {1, 3}) == Shape{0});
    }
    INFO("expanded from 1 to 0: the sum over no elements is 0");
    CHECK(broadcast_dims({2, 1}, {2, 0}) == Shape{1});
    INFO("(4,) is not expanded to (2, 3), and (2, 3) not to (3,) or (1, 3)");
    for (const auto& [from, to] :
         {std::pair<Shape, Shape>{{4}, {2, 3}}, {{2, 3}, {3}}, {{2, 3}, {1, 3}}})
        CHECK_THROWS_AS(broadcast_dims(from, to), ShapeError);
}

TEST_CASE("sum_to sums what was repeated and has the smaller shape", "[lab01][lab01.5]") {
    const Tensor x = count_up({2, 3});
    INFO("x is 0 1 2 / 3 4 5, the gradient of a result of shape (2, 3)");
    CHECK(elements(mini::ops::sum_to(x, {3})) == Values{3, 5, 7});
    CHECK(elements(mini::ops::sum_to(x, {2, 1})) == Values{3, 12});
    CHECK(elements(mini::ops::sum_to(x, {})) == Values{15});
    {
        INFO("(3,) and (1, 3) are repeated alike, but have different shapes");
        CHECK(mini::ops::sum_to(x, {3}).shape() == Shape{3});
        CHECK(mini::ops::sum_to(x, {1, 3}).shape() == Shape{1, 3});
    }
    INFO("nothing was repeated: the tensor itself");
    CHECK(elements(mini::ops::sum_to(x, {2, 3})) == elements(x));
    INFO("(4,) and (3, 2) are not repeated in (2, 3), although (3, 2) has six elements");
    CHECK_THROWS_AS(mini::ops::sum_to(x, {4}), ShapeError);
    CHECK_THROWS_AS(mini::ops::sum_to(x, {3, 2}), ShapeError);
}
