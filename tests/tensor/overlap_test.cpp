
#include "libmini/tensor/overlap.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using test::contains, test::count_up, test::message_of, test::Values;

TEST_CASE("copy_ and add_ throw if the source is a shifted view of the same elements") {
    const Tensor x = count_up({40000});
    Tensor later = ops::narrow(x, 0, 1, 39999);
    const Tensor earlier = ops::narrow(x, 0, 0, 39999);
    CHECK(contains(message_of([&] { ops::copy_(later, earlier); }),
                   "copy_: the tensor of shape (39999,) and the source of shape (39999,) "
                   "share some of their elements; clone() the source first"));
    CHECK_THROWS_AS(ops::add_(later, earlier), Error);
    CHECK(ops::equal(x, count_up({40000})));
    ops::copy_(later, ops::clone(earlier));
    CHECK(x.to_vector<float>()[39999] == 39998);
    CHECK(x.to_vector<float>()[16385] == 16384);
}

TEST_CASE(
    "copy_ of a transposed view onto itself throws, and onto the same view does not") {
    Tensor x = count_up({3, 3});
    Tensor transposed = ops::transpose(x, 0, 1);
    CHECK_THROWS_AS(ops::copy_(transposed, x), Error);
    CHECK_THROWS_AS(ops::copy_(x, transposed), Error);
    const Tensor same = ops::view(x, {3, 3});
    ops::copy_(x, same);
    ops::add_(x, same);
    CHECK(ops::equal(x, ops::add(count_up({3, 3}), count_up({3, 3}))));
}

TEST_CASE("copy_ between strided views of one matrix copies the elements of before") {
    Tensor x = count_up({4, 5});
    Tensor right = ops::narrow(x, 1, 1, 4);
    const Tensor expected = ops::clone(ops::narrow(x, 1, 0, 4));
    ops::copy_(right, ops::narrow(x, 1, 0, 4));
    CHECK(ops::equal(ops::contiguous(right), expected));

    // A contiguous source within the rows of a strided result.
    Tensor y = count_up({6});
    Tensor even = y.as_strided({3}, {2}, 0);
    ops::copy_(even, ops::narrow(y, 0, 1, 3));
    CHECK(y.to_vector<float>() == Values{1, 1, 2, 3, 3, 5});
}

TEST_CASE("copy_ to an expanded tensor throws, because its elements share an address") {
    Tensor x = ops::expand(Tensor::zeros({1}), {3});
    CHECK(contains(message_of([&] { ops::copy_(x, Tensor::ones({3})); }),
                   "several elements at one address"));
    Tensor one = ops::expand(Tensor::zeros({1}), {1});
    CHECK_NOTHROW(ops::copy_(one, Tensor::ones({1})));
    Tensor empty = ops::expand(Tensor::zeros({1, 0}), {3, 0});
    CHECK_NOTHROW(ops::copy_(empty, Tensor::ones({3, 0})));
}

TEST_CASE("memory_order sorts dimensions by stride, and passes over strides of 0") {
    const Tensor x = count_up({2, 3, 4});
    CHECK(memory_order(x) == Shape{0, 1, 2});
    CHECK(memory_order(ops::permute(x, {2, 0, 1})) == Shape{1, 2, 0});
    CHECK(memory_order(ops::transpose(x, 0, 2)) == Shape{2, 1, 0});
    CHECK(memory_order(ops::expand(Tensor::ones({2, 1}), {2, 3})) == Shape{0, 1});
    CHECK(memory_order(ops::expand(Tensor::ones({1, 3}), {2, 3})) == Shape{0, 1});
    CHECK(memory_order(Tensor::scalar(1)) == Shape{});
}
