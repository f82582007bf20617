#include "libmini/tensor/tensor.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tensor/support.hpp"

using namespace mini;
using namespace mini::test;
using test::contains, test::message_of;

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

    // x[0] = y would change a temporary handle, and no element.
    STATIC_REQUIRE(std::is_assignable_v<Tensor&, Tensor>);
    STATIC_REQUIRE_FALSE(std::is_assignable_v<Tensor, Tensor>);
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
          "tensor: asked for float32 elements, but the tensor is int64; convert it by "
          "ops::to");
}

TEST_CASE("item throws unless the tensor has one element") {
    CHECK(message_of([] { count_up({2}).item(); }) ==
          "item: a tensor of shape (2,) is not one number");
}

TEST_CASE("the error message names a device that does not exist") {
    const std::string message =
        message_of([] { Tensor::empty({1}, DType::kFloat32, Device::cuda(99)); });
    CHECK(message ==
          concat("tensor: there is no device cuda:99; ", cuda_device_count_text()));
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

TEST_CASE("full throws for a value that the dtype cannot store") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const auto stored = [](double value, DType dtype) {
        return ops::to(Tensor::full({1}, value, dtype), DType::kFloat32).item();
    };
    for (const double value : {-1.0, -0.5, 256.0, nan, infinity}) {
        CAPTURE(value);
        CHECK_THROWS_AS(Tensor::full({1}, value, DType::kUInt8), Error);
    }
    for (const double value : {0x1p63, -0x1.1p63, 1e19, nan, -infinity}) {
        CAPTURE(value);
        CHECK_THROWS_AS(Tensor::full({1}, value, DType::kInt64), Error);
    }
    CHECK_THROWS_AS(Tensor::full({1}, 1e300), Error);
    CHECK_THROWS_AS(Tensor::full({1}, -1, DType::kUInt8), Error);
    CHECK(message_of([] { Tensor::full({1}, -1, DType::kUInt8); }) ==
          "full: the value -1 cannot be stored as uint8");
    CHECK(stored(255.9, DType::kUInt8) == 255);
    CHECK(stored(-3.7, DType::kInt64) == -3);
    CHECK(stored(-infinity, DType::kFloat32) == -infinity);
    CHECK(stored(1e6, DType::kFloat16) == infinity);
    CHECK(std::isnan(stored(nan, DType::kBFloat16)));
}

TEST_CASE("integers above 2 to the 53 are stored and read exactly, or throw") {
    constexpr int64_t kOdd = 9007199254740993;  // 2^53 + 1
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    for (const int64_t value : {kOdd, -kOdd, kMax, std::numeric_limits<int64_t>::min()}) {
        CAPTURE(value);
        CHECK(Tensor::full({1}, value, DType::kInt64).item<int64_t>() == value);
    }
    const Tensor odd = Tensor::from(std::vector<int64_t>{kOdd});
    CHECK(message_of([&] { odd.item(); }) ==
          "item: 9007199254740993 is not a double; call item<int64_t>()");
    CHECK_THROWS_AS(Tensor::from(std::vector<int64_t>{kMax}).item(), Error);
    CHECK(Tensor::from(std::vector<int64_t>{kOdd - 1}).item() == 0x1p53);
    CHECK(Tensor::from(std::vector<int64_t>{-kMax - 1}).item() == -0x1p63);
    CHECK_THROWS_AS(odd.item<float>(), ShapeError);
    CHECK_THROWS_AS(Tensor::zeros({2}).item<float>(), ShapeError);
}

TEST_CASE("the members of an undefined tensor throw Error") {
    const Tensor none;
    Tensor same;
    const std::vector<std::function<void()>> uses{
        [&] { none.shape(); },
        [&] { none.strides(); },
        [&] { none.dtype(); },
        [&] { none.device(); },
        [&] { none.dim(); },
        [&] { none.numel(); },
        [&] { none.bytes(); },
        [&] { none.size(0); },
        [&] { none.offset(); },
        [&] { none.item(); },
        [&] { none.item<float>(); },
        [&] { none.data<float>(); },
        [&] { none.raw_data(); },
        [&] { none.contiguous_data<float>(); },
        [&] { none.span<float>(); },
        [&] { none.to_vector<float>(); },
        [&] { none.is_contiguous(); },
        [&] { none.is_pinned(); },
        [&] { none.pin_memory(); },
        [&] { none.to(Device::cpu()); },
        [&] { none.as_strided({1}, {1}, 0); },
        [&] { none.new_empty({1}); },
        [&] { none.shares_storage(Tensor::ones({1})); },
        [&] { Tensor::ones({1}).shares_storage(none); },
        [&] { none.is_freed(); },
        [&] { none.version(); },
        [&] { none.autograd_meta(); },
        [&] { same.bump_version(); },
        [&] { same.set_data(Tensor::ones({1})); },
        [&] { Tensor::ones({1}).set_data(none); }};
    for (size_t i = 0; i < uses.size(); ++i) {
        CAPTURE(i);
        CHECK(contains(message_of(uses[i]), "this tensor is undefined"));
    }
    CHECK(none.is_same(same));
    CHECK(none.id() == nullptr);
    CHECK_FALSE(none.is_unique());
}
