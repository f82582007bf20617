#include "libmini/tensor/tensor.hpp"

#include <functional>
#include <limits>
#include <sstream>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/print.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::message_of;

namespace {

// 0, 1, 2, ... in the given shape.
Tensor count_up(const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Tensor::from(values, shape);
}

}  // namespace

TEST_CASE("a tensor knows its shape, strides, dtype and number of elements") {
    const Tensor x = Tensor::zeros({2, 3, 4});
    CHECK(x.shape() == Shape{2, 3, 4});
    CHECK(x.strides() == Shape{12, 4, 1});
    CHECK(x.dtype() == DType::kFloat32);
    CHECK(x.numel() == 24);
    CHECK(x.bytes() == 96);
    CHECK(x.dim() == 3);
    CHECK(x.size(-1) == 4);
    CHECK(x.size(0) == 2);
    CHECK(x.device() == Device::cpu());
    CHECK(x.is_contiguous());
}

TEST_CASE("a scalar has no dimension and one element") {
    const Tensor x = Tensor::scalar(2.5f);
    CHECK(x.shape().empty());
    CHECK(x.numel() == 1);
    CHECK(x.item() == 2.5);
}

TEST_CASE("a tensor may be empty") {
    const Tensor x = Tensor::zeros({3, 0, 2});
    CHECK(x.numel() == 0);
    CHECK(x.is_contiguous());
    CHECK(x.to_vector<float>().empty());
    CHECK(ops::equal(ops::clone(x), x));
}

TEST_CASE("factories fill every dtype") {
    CHECK(Tensor::full({3}, 2.0).to_vector<float>() == std::vector<float>{2, 2, 2});
    CHECK(Tensor::full({2}, -7, DType::kInt64).to_vector<int64_t>() ==
          std::vector<int64_t>{-7, -7});
    CHECK(Tensor::ones({2}, DType::kUInt8).to_vector<uint8_t>() ==
          std::vector<uint8_t>{1, 1});
}

TEST_CASE("copying a handle copies no numbers, cloning does") {
    Tensor x = count_up({3});
    Tensor handle = x;
    Tensor copy = ops::clone(x);
    x.data<float>()[0] = 9.0f;
    CHECK(handle.data<float>()[0] == 9.0f);
    CHECK(copy.data<float>()[0] == 0.0f);
    CHECK(handle.is_same(x));
    CHECK(handle.shares_storage(x));
    CHECK_FALSE(copy.shares_storage(x));
}

TEST_CASE("values that do not fill the shape are refused, naming both") {
    const std::string message = message_of([] {
        Tensor::from(std::vector<float>{1, 2, 3}, {2, 2});
    });
    CHECK(message == "tensor: 3 values do not fill the shape (2, 2)");
}

TEST_CASE("impossible shapes are refused before memory is asked for") {
    CHECK_THROWS_AS(Tensor::empty({-1}), ShapeError);
    constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
    CHECK_THROWS_AS(Tensor::empty({kHuge, 2}), ShapeError);
    CHECK_THROWS_AS(Tensor::empty({kHuge / 2}), Error);
    CHECK_THROWS_AS(Tensor::empty({0, kHuge / 2, 4}), ShapeError);
}

TEST_CASE("reading as another dtype is an error that names both") {
    const Tensor x = Tensor::zeros({2}, DType::kInt64);
    CHECK(message_of([&] { x.data<float>(); }) ==
          "tensor: asked for float32 elements, but the tensor is int64");
}

TEST_CASE("item refuses anything but one element") {
    CHECK(message_of([] { count_up({2}).item(); }) ==
          "item: a tensor of shape (2,) is not one number");
}

TEST_CASE("there is no CUDA device in this build, and the error says so") {
    CHECK(message_of([] { Tensor::empty({1}, DType::kFloat32, Device::cuda(1)); }) ==
          "tensor: this build has no device cuda:1; use Device::cpu()");
}

TEST_CASE("tensors print as PyTorch prints them") {
    std::ostringstream out;
    out << count_up({2, 2}) << ' ' << Tensor::scalar(1.5f) << ' '
        << Tensor::from(std::vector<int64_t>{3, 4}) << ' ' << Tensor();
    CHECK(out.str() ==
          "tensor([[0.0000, 1.0000], [2.0000, 3.0000]]) tensor(1.5000) "
          "tensor([3, 4], dtype=int64) tensor(undefined)");
}

TEST_CASE("long dimensions print with their ends only") {
    std::ostringstream out;
    out << ops::to(count_up({20}), DType::kInt64);
    CHECK(out.str() == "tensor([0, 1, 2, ..., 17, 18, 19], dtype=int64)");
}
