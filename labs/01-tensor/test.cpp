// The checks of lab 01, first part: contiguous strides, and views of a storage. They read
// elements through the storage, so that no kernel is needed.

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "labs/01-tensor/test_support.hpp"
#include "libmini/tensor/shape.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::Shape, mini::ShapeError, mini::Tensor, mini::concat, mini::contiguous_strides,
    mini::is_contiguous, mini::last_position;
using mini::labs::Values, mini::labs::count_up, mini::labs::elements, mini::labs::layout,
    mini::labs::positions;

TEST_CASE("a stride is the product of the sizes after it", "[lab01][lab01.1]") {
    {
        INFO(
            "shape (2, 3): 1 for the last dimension, 3 for the first: the next row is 3");
        INFO("elements on");
        CHECK(contiguous_strides({2, 3}) == Shape{3, 1});
    }
    {
        INFO("shape (2, 3, 4): 1, then 4, then 3 * 4");
        CHECK(contiguous_strides({2, 3, 4}) == Shape{12, 4, 1});
    }
    INFO("a size of 1 multiplies nothing, and a scalar has no strides");
    CHECK(contiguous_strides({4, 1, 3}) == Shape{3, 3, 1});
    CHECK(contiguous_strides({5}) == Shape{1});
    CHECK(contiguous_strides({2, 3, 1'000'000'000}) ==
          Shape{3'000'000'000, 1'000'000'000, 1});
    CHECK(contiguous_strides({}).empty());
}

TEST_CASE("contiguous elements follow each other without gaps", "[lab01][lab01.1]") {
    const Shape shape = GENERATE(values<Shape>({{6}, {2, 3}, {3, 1, 4}, {2, 3, 2, 5}}));
    const Shape strides = contiguous_strides(shape);
    INFO("shape "
         << concat(shape) << ", your strides " << concat(strides)
         << ": the positions of the elements, row by row, should be 0, 1, 2, ...");
    std::vector<int64_t> expected(static_cast<size_t>(mini::element_count(shape)));
    std::iota(expected.begin(), expected.end(), int64_t{0});
    CHECK(positions(shape, strides, 0) == expected);
}

TEST_CASE("a size of 0 counts as 1 in the strides", "[lab01][lab01.1]") {
    INFO("PyTorch gives the same strides");
    CHECK(contiguous_strides({2, 0, 3}) == Shape{3, 3, 1});
    CHECK(contiguous_strides({3, 0}) == Shape{1, 1});
    CHECK(contiguous_strides({0}) == Shape{1});
}

TEST_CASE("a tensor is contiguous if its strides are the contiguous ones",
          "[lab01][lab01.1]") {
    INFO("is_contiguous(shape, strides)");
    CHECK(is_contiguous({2, 3, 4}, {12, 4, 1}));
    CHECK(is_contiguous({}, {}));
    {
        INFO("a transpose: the next element of a row is 3 elements on");
        CHECK_FALSE(is_contiguous({3, 2}, {1, 3}));
    }
    {
        INFO("two of three columns: there is a gap after each row");
        CHECK_FALSE(is_contiguous({2, 2}, {3, 1}));
        CHECK_FALSE(is_contiguous({4}, {2}));
        CHECK_FALSE(is_contiguous({2, 2, 3}, {12, 3, 1}));
    }
    {
        INFO("a row that is repeated: both rows are the same three elements");
        CHECK_FALSE(is_contiguous({2, 3}, {0, 1}));
    }
}

TEST_CASE("the stride of a dimension of size 1 is not used", "[lab01][lab01.1]") {
    INFO("index 0 is the only one, and 0 times any stride is 0");
    CHECK(is_contiguous({1, 3}, {99, 1}));
    CHECK(is_contiguous({2, 1, 3}, {3, 0, 1}));
    CHECK(is_contiguous({3, 1}, {1, 77}));
    CHECK(is_contiguous({1}, {5}));
    INFO("but the other strides count: here is a gap of one element after each");
    CHECK_FALSE(is_contiguous({3, 1}, {2, 1}));
}

TEST_CASE("a tensor without elements is contiguous", "[lab01][lab01.1]") {
    INFO("a tensor without elements has no gap, whatever its strides");
    CHECK(is_contiguous({0, 2}, {7, 5}));
    CHECK(is_contiguous({2, 0}, {9, 5}));
    CHECK(is_contiguous({3, 0, 2}, {1, 1, 3}));
}

TEST_CASE("the last element is at the last index of each dimension", "[lab01][lab01.2]") {
    {
        INFO(
            "shape (2, 3), strides (3, 1), offset 0: element (1, 2) is at 1 * 3 + 2 * "
            "1;");
        CHECK(last_position({2, 3}, {3, 1}, 0) == 5);
        CHECK(last_position({3, 2}, {1, 3}, 0) == 5);
        CHECK(last_position({2, 3}, {3, 1}, 4) == 9);
    }
    {
        INFO("two of three columns, shape (2, 2), strides (3, 1): 1 * 3 + 1 * 1");
        CHECK(last_position({2, 2}, {3, 1}, 0) == 4);
        CHECK(last_position({2, 2}, {3, 1}, 1) == 5);
    }
    {
        INFO("a stride of 0 leads nowhere: shape (5, 3), strides (0, 1), offset 1");
        CHECK(last_position({5, 3}, {0, 1}, 1) == 3);
        CHECK(last_position({1, 3}, {99, 1}, 0) == 2);
    }
    INFO("a scalar is its own last element");
    CHECK(last_position({}, {}, 7) == 7);
    INFO("a storage of 4 billion elements: positions are 64 bits wide");
    CHECK(last_position({4, 1'000'000'000}, {1'000'000'000, 1}, 0) == 3'999'999'999);
}

TEST_CASE("a tensor without elements has no last element", "[lab01][lab01.2]") {
    INFO("the answer is -1, whatever the other sizes and the offset are");
    CHECK(last_position({0}, {1}, 0) == -1);
    CHECK(last_position({2, 0, 3}, {3, 3, 1}, 0) == -1);
    CHECK(last_position({5, 0}, {100, 1}, 50) == -1);
}

TEST_CASE("as_strided gives a view of the same storage", "[lab01][lab01.2]") {
    const Tensor x = count_up({2, 3});
    const Tensor view = x.as_strided({3, 2}, {1, 3}, 0);
    INFO("storage 0 1 2 3 4 5, as_strided((3, 2), (1, 3), 0): the transpose;");
    INFO("your view has " << layout(view));
    CHECK(view.shape() == Shape{3, 2});
    CHECK(view.strides() == Shape{1, 3});
    CHECK(view.offset() == 0);
    CHECK(view.numel() == 6);
    REQUIRE(view.shares_storage(x));
    CHECK(elements(view) == Values{0, 3, 1, 4, 2, 5});
    {
        INFO("the number of elements is that of the view, not that of x");
        CHECK(x.as_strided({2}, {2}, 1).numel() == 2);
        CHECK(x.as_strided({4, 6}, {0, 1}, 0).numel() == 24);
    }
    {
        INFO("x itself has not changed");
        CHECK(layout(x) == "shape (2, 3), strides (3, 1), offset 0");
        CHECK_FALSE(view.is_same(x));
    }
}

TEST_CASE("a change of a view changes the tensor", "[lab01][lab01.2]") {
    Tensor x = count_up({2, 3});
    Tensor view = x.as_strided({2}, {3}, 1);
    INFO("the view is column 1 of x; its first element is set to 100");
    *view.data<float>() = 100;
    CHECK(elements(x) == Values{0, 100, 2, 3, 4, 5});
}

TEST_CASE("a view has the dtype of its tensor, and no autograd state",
          "[lab01][lab01.2]") {
    const Tensor x = Tensor::from(std::vector<int64_t>{5, 6, 7});
    INFO("x has three int64 elements");
    const Tensor view = x.as_strided({2}, {1}, 1);
    CHECK(view.dtype() == mini::DType::kInt64);
    CHECK(view.raw_data() == x.raw_data() + 8);
    // Any object can stand for the state: nothing reads it here.
    const auto state = std::make_shared<int>();
    x.set_autograd_meta({state, reinterpret_cast<mini::AutogradMeta*>(state.get())});
    INFO(
        "x is part of an autograd graph; a view is part of it only if an autograd "
        "function");
    INFO("records it");
    CHECK(x.as_strided({2}, {1}, 1).autograd_meta() == nullptr);
}

TEST_CASE("the offset of a view of a view counts from the front of the storage",
          "[lab01][lab01.2]") {
    const Tensor x = count_up({6});
    const Tensor outer = x.as_strided({3}, {1}, 3);
    const Tensor inner = outer.as_strided({2}, {1}, 1);
    INFO(
        "storage 0 1 2 3 4 5; the outer view begins at 3. as_strided of it with offset "
        "1");
    INFO("begins at position 1, not at 3 + 1; your inner view has " << layout(inner));
    CHECK(elements(outer) == Values{3, 4, 5});
    CHECK(elements(inner) == Values{1, 2});
    INFO("so a view can be larger than the view that it was made from");
    CHECK(elements(outer.as_strided({6}, {1}, 0)) == Values{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a view that leaves the storage is an error", "[lab01][lab01.2]") {
    const Tensor x = count_up({2, 3});
    INFO("the storage has positions 0 to 5; check_layout, which is given, compares them");
    INFO("with your last_position");
    CHECK(elements(x.as_strided({2, 2}, {2, 1}, 2)) == Values{2, 3, 4, 5});
    CHECK_THROWS_AS(x.as_strided({2, 2}, {2, 1}, 3), ShapeError);
    CHECK_THROWS_AS(x.as_strided({7}, {1}, 0), ShapeError);
    CHECK_THROWS_AS(x.as_strided({3, 3}, {2, 1}, 0), ShapeError);
    INFO("a view without elements needs no storage");
    CHECK(x.as_strided({0, 3}, {3, 1}, 99).numel() == 0);
}
