#include "libmini/tensor/tensor.hpp"

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "libmini/tensor/has_cuda.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/print.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;
using test::message_of;

TEST_CASE("a tensor has a shape and strides and a dtype and a number of elements") {
    const Tensor x = Tensor::zeros({2, 3, 4});
    CHECK(x.shape() == Shape{2, 3, 4});
    CHECK(x.strides() == Shape{12, 4, 1});
    CHECK(x.dtype() == DType::kFloat32);
    CHECK(x.numel() == 24);
    CHECK(x.bytes() == 96);
    CHECK(x.dim() == 3);
    CHECK(x.size(-1) == 4);
    CHECK(x.size(0) == 2);
    CHECK(x.device() == default_device());
    CHECK(x.is_contiguous());
}

TEST_CASE("a scalar has no dimensions and one element") {
    const Tensor x = Tensor::scalar(2.5f);
    CHECK(x.shape().empty());
    CHECK(x.numel() == 1);
    CHECK(x.item() == 2.5);
}

TEST_CASE("a tensor can be empty") {
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

TEST_CASE("copying a handle shares the elements and clone copies them") {
    Tensor x = count_up({3});
    Tensor handle = x;
    Tensor copy = ops::clone(x);
    ops::fill_(x, 9.0f);
    CHECK(ops::select(handle, 0, 0).item() == 9.0);
    CHECK(ops::select(copy, 0, 0).item() == 0.0);
    CHECK(handle.is_same(x));
    CHECK(handle.shares_storage(x));
    CHECK_FALSE(copy.shares_storage(x));
}

TEST_CASE("a wrong number of values throws an error with this number and the shape") {
    const std::string message = message_of([] {
        Tensor::from(std::vector<float>{1, 2, 3}, {2, 2});
    });
    CHECK(message == "tensor: 3 values do not fill the shape (2, 2)");
}

TEST_CASE("invalid shapes throw before memory is allocated") {
    CHECK_THROWS_AS(Tensor::empty({-1}), ShapeError);
    constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
    CHECK_THROWS_AS(Tensor::empty({kHuge, 2}), ShapeError);
    CHECK_THROWS_AS(Tensor::empty({kHuge / 2}), Error);
    CHECK_THROWS_AS(Tensor::empty({0, kHuge / 2, 4}), ShapeError);
}

TEST_CASE("element types without a dtype do not satisfy Element") {
    STATIC_REQUIRE(Element<int64_t>);
    STATIC_REQUIRE_FALSE(Element<size_t>);
    STATIC_REQUIRE_FALSE(Element<double>);
    STATIC_REQUIRE_FALSE(Element<bool>);
}

TEST_CASE("data with another dtype throws an error that names both dtypes") {
    const Tensor x = Tensor::zeros({2}, DType::kInt64);
    CHECK(message_of([&] { x.data<float>(); }) ==
          "tensor: asked for float32 elements, but the tensor is int64");
}

TEST_CASE("item throws unless the tensor has one element") {
    CHECK(message_of([] { count_up({2}).item(); }) ==
          "item: a tensor of shape (2,) is not one number");
}

TEST_CASE("the error message names a device that does not exist") {
    const std::string message =
        message_of([] { Tensor::empty({1}, DType::kFloat32, Device::cuda(99)); });
    CHECK(message == (kHasCuda ? concat("tensor: there is no device cuda:99; ",
                                        cuda_device_count_text())
                               : "cuda: this build has no CUDA devices; configure with "
                                 "MINI_CUDA=SIM or ON"));
}

TEST_CASE("Device::parse accepts PyTorch's spelling") {
    CHECK(Device::parse("cpu") == Device::cpu());
    CHECK(Device::parse("cpu:3") == Device::cpu(3));
    for (const char* const text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1x"})
        CHECK(message_of([&] { Device::parse(text); }) ==
              concat("device: '", text,
                     "' is not a device; use for example cpu, cuda or cuda:1"));
    CHECK_THROWS_AS(Device::parse("cuda:99"), UsageError);
    if (cuda_device_count() > 0) CHECK(Device::parse("cuda") == Device::cuda(0));
}

TEST_CASE("the default device of a new thread is the CPU and can be changed") {
    const Device before = default_device();
    std::thread([] { CHECK(default_device() == Device::cpu()); }).join();
    set_default_device(Device::cpu(2));
    CHECK(Tensor::empty({1}).device() == Device::cpu(2));
    CHECK(Tensor::zeros({1}, DType::kFloat32, Device::cpu()).device() == Device::cpu());
    set_default_device(before);
}

TEST_CASE("to copies the elements to another device unchanged") {
    const Tensor x = ops::transpose(count_up({2, 3}), 0, 1);
    const Tensor y = x.to(Device::cpu());
    CHECK(y.device() == Device::cpu());
    CHECK(y.to(default_device()).to_vector<float>() == x.to_vector<float>());
    CHECK(x.to(x.device()).is_same(x));
    Tensor held = Tensor::zeros({7});
    const Tensor handle = held;
    held.set_data(x);
    CHECK(handle.shape() == Shape{3, 2});
    CHECK(handle.shares_storage(x));
}

TEST_CASE("pin_memory needs a CUDA device") {
    const Tensor x = Tensor::ones({2}, DType::kFloat32, Device::cpu());
    CHECK_FALSE(x.is_pinned());
    if (cuda_device_count() > 0) {
        CHECK(x.pin_memory().is_pinned());
    } else {
        CHECK(message_of([&] { x.pin_memory(); }) != "");
        CHECK(message_of([&] { Tensor::empty_pinned({2}); }) != "");
    }
}

TEST_CASE("an operation on tensors of two devices and a span of a GPU tensor throw") {
    if (cuda_device_count() == 0) return;
    const Tensor on_cpu = Tensor::ones({2}, DType::kFloat32, Device::cpu());
    const Tensor on_gpu = on_cpu.to(Device::cuda());
    CHECK(message_of([&] { ops::add(on_cpu, on_gpu); }) ==
          "add: all tensors must be on one device, but one is on cpu and one on cuda:0; "
          "move one with to()");
    CHECK(message_of([&] { on_gpu.span<float>(); }) ==
          "span: the tensor is on cuda:0; copy it with to(Device::cpu()) first");
    CHECK(ops::sum(on_gpu).item() == 2.0);
}

TEST_CASE("tensors print in PyTorch's format") {
    std::ostringstream out;
    out << count_up({2, 2}) << ' ' << Tensor::scalar(1.5f) << ' '
        << Tensor::from(std::vector<int64_t>{3, 4}) << ' ' << Tensor();
    CHECK(out.str() ==
          "tensor([[0.0000, 1.0000], [2.0000, 3.0000]]) tensor(1.5000) "
          "tensor([3, 4], dtype=int64) tensor(undefined)");
    out.str("");
    out << ops::to(Tensor::scalar(0.5f), DType::kFloat16);
    CHECK(out.str() == "tensor(0.5000, dtype=float16)");
}

TEST_CASE("only the ends of long dimensions are printed") {
    std::ostringstream out;
    out << ops::to(count_up({20}), DType::kInt64);
    CHECK(out.str() == "tensor([0, 1, 2, ..., 17, 18, 19], dtype=int64)");
}
