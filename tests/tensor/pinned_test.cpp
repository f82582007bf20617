// Tensors in pinned memory, and copies between them and a GPU that do not block the host.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/watched_stream.hpp"

using namespace mini;
using namespace mini::test;

namespace {

const Device kCuda = Device::cuda(0);
constexpr DType kDTypes[] = {DType::kFloat32, DType::kInt64, DType::kUInt8,
                             DType::kFloat16, DType::kBFloat16};

// Returns a tensor of random bytes, which as floats may be NaN: tests compare bytes.
Tensor random_bytes(const Shape& shape, DType dtype) {
    Tensor x = Tensor::empty(shape, dtype, Device::cpu());
    Generator generator(static_cast<uint64_t>(x.numel()) + 7);
    for (size_t i = 0; i < x.bytes(); ++i)
        x.raw_data()[i] = static_cast<std::byte>(generator.randint(0, 256));
    return x;
}

// Returns the bytes of the elements, in row-major order.
std::vector<std::byte> bytes_of(const Tensor& x) {
    const Tensor in = ops::contiguous(x.to(Device::cpu()));
    std::vector<std::byte> bytes(in.bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), in.raw_data(), bytes.size());
    return bytes;
}

bool same_bytes(const Tensor& a, const Tensor& b) { return bytes_of(a) == bytes_of(b); }

// Contiguous tensors of awkward sizes.
std::vector<Tensor> whole_tensors(DType dtype) {
    std::vector<Tensor> all;
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 0, 2}, Shape{7},
                               Shape{3, 5}, Shape{2, 3, 4}, Shape{1, 1025}})
        all.push_back(random_bytes(shape, dtype));
    return all;
}

// Views of x, of shape (6, 5, 4), with strides or an offset.
std::vector<Tensor> views_of(const Tensor& x) {
    return {ops::transpose(x, 0, 2),
            ops::permute(x, {1, 2, 0}),
            ops::narrow(x, 0, 2, 3),
            ops::narrow(x, 2, 1, 2),
            ops::select(x, 1, 3),
            ops::expand(ops::narrow(x, 0, 5, 1), {3, 5, 4}),
            x.as_strided({2, 3}, {7, 2}, 11)};
}

Tensor pinned(const Shape& shape, DType dtype = DType::kFloat32) {
    return random_bytes(shape, dtype).pin_memory();
}

// Calls `call` with a new stream as current stream, and returns whether it has waited for
// the stream's work.
bool waits(const std::function<void()>& call) {
    WatchedStream stream(0, kBriefly);
    const cuda::StreamGuard guard(0, stream.get());
    call();
    return stream.has_run();
}

}  // namespace

TEST_CASE("pin_memory keeps shape, dtype and bytes, and makes the elements contiguous") {
    for (const DType dtype : kDTypes) {
        std::vector<Tensor> tensors = whole_tensors(dtype);
        for (const Tensor& view : views_of(random_bytes({6, 5, 4}, dtype)))
            tensors.push_back(view);
        for (const Tensor& x : tensors) {
            CAPTURE(x.dtype(), x.shape(), x.strides(), x.offset());
            const Tensor y = x.pin_memory();
            CHECK_FALSE(x.is_pinned());
            CHECK(y.is_pinned() == (x.numel() > 0));
            CHECK(y.shape() == x.shape());
            CHECK(y.dtype() == dtype);
            CHECK(y.device() == x.device());
            CHECK(y.is_contiguous());
            CHECK(y.offset() == 0);
            CHECK(same_bytes(y, x));
        }
    }
}

TEST_CASE("pin_memory returns a pinned tensor itself, with its strides") {
    const Tensor x = pinned({6, 5, 4});
    CHECK(x.pin_memory().is_same(x));
    for (const Tensor& view : views_of(x)) {
        CHECK(view.is_pinned());
        CHECK(view.pin_memory().is_same(view));
    }
    CHECK(Tensor::empty_pinned({3}).is_pinned());
}

TEST_CASE("GPU memory is not pinned, and cannot be pinned") {
    const Tensor x = Tensor::ones({2}, DType::kFloat32, kCuda);
    CHECK_FALSE(x.is_pinned());
    CHECK(message_of<Error>([&] { x.pin_memory(); }) ==
          "pin_memory: the tensor is on cuda:0; only CPU memory can be pinned");
}

TEST_CASE("freed memory is not pinned") {
    Tensor x = pinned({100});
    const void* const address = x.raw_data();
    CHECK(cuda::is_pinned(address));
    x.free_storage();
    CHECK_FALSE(x.is_pinned());
    CHECK_FALSE(cuda::is_pinned(address));
    CHECK_FALSE(cuda::is_pinned(nullptr));
    x.allocate_storage();
    CHECK(x.is_pinned());
}

TEST_CASE(
    "a non-blocking copy from pinned memory to a GPU does not wait for the stream") {
    const Tensor x = pinned({1000}), part = ops::narrow(x, 0, 3, 501);
    Tensor y, z = Tensor::empty({501}, DType::kFloat32, kCuda);
    Tensor strided =
        ops::transpose(Tensor::empty({20, 50}, DType::kFloat32, kCuda), 0, 1);
    WatchedStream stream(0);
    {
        const cuda::StreamGuard guard(0, stream.get());
        y = x.to(kCuda, true);
        ops::copy_(z, part, true);
        ops::copy_(strided, ops::view(x, {50, 20}), true);
    }
    CHECK_FALSE(stream.has_run());
    stream.finish();
    CHECK(same_bytes(y, x));
    CHECK(same_bytes(z, part));
    CHECK(same_bytes(strided, x));
}

TEST_CASE(
    "a non-blocking copy from a GPU to pinned memory does not wait for the stream") {
    const Tensor expected = random_bytes({1000}, DType::kFloat32);
    const Tensor x = expected.to(kCuda);
    Tensor y, z = Tensor::empty_pinned({1000});
    WatchedStream stream(0);
    {
        const cuda::StreamGuard guard(0, stream.get());
        y = x.to(Device::cpu(), true);
        ops::copy_(z, x, true);
    }
    CHECK_FALSE(stream.has_run());
    CHECK(y.is_pinned());
    stream.finish();
    CHECK(same_bytes(y, expected));
    CHECK(same_bytes(z, expected));
}

TEST_CASE("a copy waits for the stream unless it is non-blocking and the memory pinned") {
    const Tensor pageable = random_bytes({40, 25}, DType::kFloat32);
    const Tensor locked = pageable.pin_memory();
    const Tensor on_gpu = pageable.to(kCuda);
    Tensor to_gpu = Tensor::empty({40, 25}, DType::kFloat32, kCuda);
    Tensor to_host = Tensor::empty({40, 25}, DType::kFloat32, Device::cpu());
    Tensor to_pinned = Tensor::empty_pinned({40, 25});

    CHECK(waits([&] { locked.to(kCuda); }));
    CHECK(waits([&] { on_gpu.to(Device::cpu()); }));
    CHECK(waits([&] { ops::copy_(to_gpu, locked); }));
    CHECK(waits([&] { ops::copy_(to_pinned, on_gpu); }));
    CHECK(waits([&] { pageable.to(kCuda, true); }));
    CHECK(waits([&] { ops::copy_(to_gpu, pageable, true); }));
    CHECK(waits([&] { ops::copy_(to_host, on_gpu, true); }));
    CHECK(same_bytes(to_host, pageable));

    // Copies through pageable temporaries, which are freed when the call returns.
    const Tensor rows = ops::transpose(locked, 0, 1);
    CHECK(waits([&] { rows.to(kCuda, true); }));
    Tensor columns = ops::transpose(to_pinned, 0, 1);
    const Tensor transposed = ops::transpose(on_gpu, 0, 1);
    ops::fill_(to_pinned, 0.0f);
    CHECK(waits([&] { ops::copy_(columns, transposed, true); }));
    CHECK(same_bytes(to_pinned, pageable));
}

TEST_CASE("copies from and to pinned memory are bitwise equal to blocking copies") {
    for (const DType dtype : kDTypes) {
        const Tensor box = random_bytes({6, 5, 4}, dtype);
        std::vector<Tensor> all;
        for (const Tensor& x : whole_tensors(dtype)) {
            all.push_back(x);
            all.push_back(x.pin_memory());
        }
        for (const Tensor& view : views_of(box)) all.push_back(view);
        for (const Tensor& view : views_of(box.pin_memory())) all.push_back(view);
        for (const Tensor& x : all) {
            CAPTURE(x.dtype(), x.shape(), x.strides(), x.offset(), x.is_pinned());
            const Tensor y = x.to(kCuda, true);
            CHECK(same_bytes(y, x));
            const Tensor z = y.to(Device::cpu(), true);
            cuda::synchronize(0);
            CHECK(same_bytes(z, x));
            CHECK(z.is_contiguous());
        }
    }
}

TEST_CASE("copy_ between strided views of pinned and GPU memory copies every element") {
    for (const DType dtype : kDTypes) {
        const Tensor from = random_bytes({6, 5, 4}, dtype);
        const std::vector<Tensor> host = views_of(from),
                                  locked = views_of(from.pin_memory()),
                                  gpu = views_of(from.to(kCuda));
        for (size_t i = 0; i < host.size(); ++i) {
            if (i == 5) continue;  // the elements of an expanded view share addresses
            CAPTURE(host[i].dtype(), host[i].shape(), host[i].strides());
            Tensor on_gpu = views_of(random_bytes({6, 5, 4}, dtype).to(kCuda))[i];
            Tensor on_host = views_of(Tensor::empty_pinned({6, 5, 4}, dtype))[i];
            const uint64_t version = on_gpu.version();
            ops::copy_(on_gpu, locked[i], true);
            CHECK(on_gpu.version() == version + 1);
            ops::copy_(on_host, gpu[i], true);
            cuda::synchronize(0);
            CHECK(same_bytes(on_gpu, host[i]));
            CHECK(same_bytes(on_host, host[i]));
        }
    }
}

TEST_CASE("pinned memory that is freed after a copy is reused only when it is done") {
    const Caching on(true);
    cuda::empty_cache(cuda::kHost);
    const Tensor expected = random_bytes({1000}, DType::kFloat32);
    const Tensor source = expected.to(kCuda);
    Tensor y;
    std::vector<const void*> freed;
    WatchedStream stream(0);
    {
        const cuda::StreamGuard guard(0, stream.get());
        Tensor x = expected.pin_memory();
        freed.push_back(x.raw_data());
        y = x.to(kCuda, true);
        x = source.to(Device::cpu(), true);
        freed.push_back(x.raw_data());
    }

    // Both buffers are free, but the stream has yet to use them.
    for (int i = 0; i < 2; ++i) {
        Tensor other = Tensor::empty_pinned({1000});
        CHECK(other.raw_data() != freed[0]);
        CHECK(other.raw_data() != freed[1]);
        ops::fill_(other, -1.0f);
    }
    CHECK_FALSE(stream.has_run());
    stream.finish();
    CHECK(same_bytes(y, expected));

    // Now both are reused.
    const Tensor a = Tensor::empty_pinned({1000}), b = Tensor::empty_pinned({1000}),
                 c = Tensor::empty_pinned({1000});
    for (const void* const buffer : freed)
        CHECK(
            (a.raw_data() == buffer || b.raw_data() == buffer || c.raw_data() == buffer));
}

TEST_CASE("a non-blocking copy between two GPUs is complete when it returns") {
    const Device last = Device::cuda(cuda_device_count() - 1);
    const Tensor expected = random_bytes({1000}, DType::kFloat32);
    const Tensor x = expected.to(kCuda);
    CHECK(same_bytes(x.to(last, true), expected));
    Tensor y = Tensor::empty({1000}, DType::kFloat32, last);
    ops::copy_(y, x, true);
    CHECK(same_bytes(y, expected));
}

TEST_CASE("a copy between two GPUs enables the source's access to the destination") {
    if (cuda_device_count() < 2) {
        WARN("skipped: this machine has fewer than two devices");
        return;
    }
    int can = 0;
    REQUIRE(cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess);
    const Tensor x = random_bytes({1000}, DType::kFloat32).to(kCuda);
    for (int round = 0; round < 2; ++round)
        CHECK(same_bytes(x.to(Device::cuda(1)), x.to(Device::cpu())));
    const cuda::DeviceGuard guard(0);
    if (can != 0)
        CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
}
