// What the checks of lab 01 leave out: view, and changes of a base by its view.

#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("views share storage with their base tensor") {
    const Tensor x = count_up({2, 3});
    CHECK(ops::view(x, {3, 2}).shares_storage(x));
    CHECK(ops::transpose(x, 0, 1).shares_storage(x));
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

TEST_CASE("transpose takes dimensions that count from the end") {
    const Tensor t = ops::transpose(count_up({2, 3}), -1, 0);
    CHECK(t.shape() == Shape{3, 2});
    CHECK_FALSE(t.is_contiguous());
    CHECK(t.to_vector<float>() == Values{0, 3, 1, 4, 2, 5});
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
