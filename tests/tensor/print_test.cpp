#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/print.hpp"
#include "tests/support/catch.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using test::count_up, test::Values;

namespace {

template <typename T>
std::string text(const T& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

}  // namespace

// The texts are those of PyTorch 2.15, without "torch." before a dtype.

TEST_CASE("floats have four decimal places, unless all are integers") {
    CHECK(text(Tensor::from(Values{0.1f, 2, 3.5f, 4}, {2, 2})) ==
          "tensor([[0.1000, 2.0000],\n"
          "        [3.5000, 4.0000]])");
    CHECK(text(count_up({2, 2})) ==
          "tensor([[0., 1.],\n"
          "        [2., 3.]])");
    CHECK(text(Tensor::scalar(3.5f)) == "tensor(3.5000)");
    CHECK(text(Tensor::from(Values{-1, 10})) == "tensor([-1., 10.])");
    CHECK(text(Tensor()) == "tensor(undefined)");
    CHECK(text(count_up({2, 2}).shape()) == "(2, 2)");
}

TEST_CASE("floats of very different magnitudes are printed with exponents") {
    CHECK(text(Tensor::from(Values{1e-5f, 1})) == "tensor([1.0000e-05, 1.0000e+00])");
    CHECK(text(Tensor::from(Values{1e9f, 1})) == "tensor([1.0000e+09, 1.0000e+00])");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(text(Tensor::from(Values{nan, 1.5f, infinity})) ==
          "tensor([   nan, 1.5000,    inf])");
}

TEST_CASE("integers are printed exactly and aligned, with their dtype unless int64") {
    CHECK(text(Tensor::from(std::vector<int64_t>{9007199254740993,
                                                 std::numeric_limits<int64_t>::max()})) ==
          "tensor([   9007199254740993, 9223372036854775807])");
    CHECK(text(Tensor::from(std::vector<uint8_t>{1, 2})) ==
          "tensor([1, 2], dtype=uint8)");
    CHECK(text(Tensor::zeros({3}, DType::kFloat16)) ==
          "tensor([0., 0., 0.], dtype=float16)");
}

TEST_CASE(
    "matrices are separated by empty lines, and long rows are broken at column 80") {
    CHECK(text(Tensor::zeros({2, 2, 2})) ==
          "tensor([[[0., 0.],\n"
          "         [0., 0.]],\n"
          "\n"
          "        [[0., 0.],\n"
          "         [0., 0.]]])");
    CHECK(text(ops::to(count_up({20}), DType::kInt64)) ==
          "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, "
          "17,\n        18, 19])");
}

TEST_CASE("only the ends of the dimensions of more than 1000 elements are printed") {
    CHECK(text(ops::to(count_up({1001}), DType::kInt64)) ==
          "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
    CHECK(text(Tensor::zeros({8, 200})) ==
          "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
          "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
          "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
          "        ...,\n"
          "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
          "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
          "        [0., 0., 0.,  ..., 0., 0., 0.]])");
    CHECK(text(Tensor::zeros({1000})).find("...") == std::string::npos);
}

TEST_CASE("a tensor without elements is printed with its shape and its dtype") {
    CHECK(text(Tensor::zeros({0})) == "tensor([])");
    CHECK(text(Tensor::zeros({2, 0})) == "tensor([], size=(2, 0))");
    CHECK(text(Tensor::zeros({0}, DType::kInt64)) == "tensor([], dtype=int64)");
}
