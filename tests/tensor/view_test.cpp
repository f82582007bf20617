#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("views share storage with their base tensor") {
    const Tensor x = count_up({2, 3});
    CHECK(ops::view(x, {3, 2}).shares_storage(x));
    CHECK(ops::transpose(x, 0, 1).shares_storage(x));
    CHECK(ops::narrow(x, 1, 1, 2).shares_storage(x));
    CHECK(ops::select(x, 0, 1).shares_storage(x));
    CHECK(ops::expand(x, {4, 2, 3}).shares_storage(x));
}

TEST_CASE("view infers one size of -1") {
    CHECK(ops::view(count_up({2, 6}), {3, -1}).shape() == Shape{3, 4});
    CHECK(ops::view(count_up({4}), {-1}).shape() == Shape{4});
    CHECK_THROWS_AS(ops::view(count_up({4}), {3, -1}), ShapeError);
    CHECK_THROWS_AS(ops::view(count_up({4}), {5}), ShapeError);
    CHECK_THROWS_AS(ops::view(count_up({4}), {-1, -1}), ShapeError);
}

TEST_CASE("view throws for a tensor that is not contiguous and reshape copies it") {
    const Tensor t = ops::transpose(count_up({2, 3}), 0, 1);
    CHECK_THROWS_AS(ops::view(t, {6}), ShapeError);
    CHECK(ops::reshape(t, {6}).to_vector<float>() == Values{0, 3, 1, 4, 2, 5});
}

TEST_CASE(
    "is_contiguous ignores the strides of dimensions of size 1 and of empty tensors") {
    CHECK(count_up({3}).as_strided({1, 3}, {99, 1}, 0).is_contiguous());
    CHECK_FALSE(count_up({4}).as_strided({2, 1}, {2, 1}, 0).is_contiguous());
    CHECK(count_up({4}).as_strided({0, 2}, {7, 5}, 0).is_contiguous());
}

TEST_CASE("transpose and permute reorder dimensions") {
    const Tensor x = count_up({2, 3});
    const Tensor t = ops::transpose(x, -1, 0);
    CHECK(t.shape() == Shape{3, 2});
    CHECK_FALSE(t.is_contiguous());
    CHECK(t.to_vector<float>() == Values{0, 3, 1, 4, 2, 5});

    const Tensor p = ops::permute(count_up({2, 1, 3}), {2, 0, 1});
    CHECK(p.shape() == Shape{3, 2, 1});
    CHECK(p.to_vector<float>() == Values{0, 3, 1, 4, 2, 5});
    CHECK_THROWS_AS(ops::permute(x, {0, 0}), ShapeError);
    CHECK_THROWS_AS(ops::permute(x, {0}), ShapeError);
}

TEST_CASE("narrow and select slice along one dimension") {
    const Tensor x = count_up({3, 4});
    CHECK(ops::narrow(x, 1, 1, 2).to_vector<float>() == Values{1, 2, 5, 6, 9, 10});
    CHECK(ops::narrow(x, 0, 3, 0).numel() == 0);
    CHECK(ops::select(x, 1, 3).to_vector<float>() == Values{3, 7, 11});
    CHECK(ops::select(ops::select(x, 0, 2), 0, 1).item() == 9.0);
    CHECK_THROWS_AS(ops::narrow(x, 1, 3, 2), ShapeError);
    CHECK_THROWS_AS(ops::narrow(x, 1, -1, 2), ShapeError);
    CHECK_THROWS_AS(ops::select(x, 2, 0), ShapeError);
    CHECK_THROWS_AS(ops::select(x, 0, 3), ShapeError);
}

TEST_CASE("expand repeats elements without a copy") {
    const Tensor row = count_up({3});
    const Tensor wide = ops::expand(row, {2, 3});
    CHECK(wide.strides() == Shape{0, 1});
    CHECK(wide.to_vector<float>() == Values{0, 1, 2, 0, 1, 2});
    CHECK_THROWS_AS(ops::expand(row, {2, 4}), ShapeError);
    CHECK_THROWS_AS(ops::expand(wide, {3}), ShapeError);
}

TEST_CASE("copying into a view changes the base tensor") {
    Tensor x = Tensor::zeros({2, 3});
    Tensor column = ops::select(x, 1, 1);
    const uint64_t before = x.version();
    ops::copy_(column, Tensor::from(Values{7, 8}));
    CHECK(x.to_vector<float>() == Values{0, 7, 0, 0, 8, 0});
    CHECK(x.version() == before + 1);
    CHECK_THROWS_AS(ops::copy_(column, Tensor::zeros({3})), ShapeError);
}
