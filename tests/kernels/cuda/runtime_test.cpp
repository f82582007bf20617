// Tests of runtime.hpp: handles, errors and devices.

#include "libmini/kernels/cuda/runtime.hpp"

#include <string>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::cuda {
namespace {

using test::contains, test::message_of;

TEST_CASE("an error message contains the call and the device and CUDA's error text") {
    CHECK(contains(message_of([] { const DeviceGuard guard(1000); }),
                   "cudaSetDevice on device 0: cudaErrorInvalidDevice"));
    check(0, "a successful call");
    CHECK(current_device() == 0);
}

TEST_CASE("an error of a kernel says that an earlier kernel failed and how to find it") {
    const int of_a_kernel = GENERATE(700, 702, 710, 714, 715, 716, 717, 718, 719);
    CAPTURE(of_a_kernel);
    const std::string text = message_of([&] { check_launch(nullptr, of_a_kernel); });
    CHECK(contains(text, "launch of kernel on device 0: "));
    CHECK(contains(text, "a kernel that was launched earlier on this device has failed"));
    CHECK(contains(text, "CUDA_LAUNCH_BLOCKING=1"));
    CHECK(contains(text, "compute-sanitizer"));
    CHECK(contains(message_of([&] { check(of_a_kernel, "cudaFree"); }), "earlier"));
    for (const int other : {1, 2, 9, 100, 101, 400, 600, 704, 801})
        CHECK_FALSE(contains(message_of([&] { check(other, "cudaFree"); }), "earlier"));
}

TEST_CASE("DeviceGuard restores the previous device") {
    const int last = device_count() - 1;
    {
        const DeviceGuard guard(last);
        CHECK(current_device() == last);
    }
    CHECK(current_device() == 0);
}

TEST_CASE("copies to a device and back are in stream order") {
    const Stream stream(0);
    std::vector<unsigned char> host(1000, 1), got(1000);
    void* const device = allocate(1000, 0, stream.get());
    copy(device, host.data(), 1000, stream.get());
    set_bytes(device, 7, 500, stream.get());
    copy(got.data(), device, 1000, stream.get());
    stream.synchronize();
    CHECK(got[499] == 7);
    CHECK(got[500] == 1);
    copy(device, host.data(), 0, stream.get());
    deallocate(device);
}

TEST_CASE("a stream waits for an event of another stream") {
    const int there = device_count() - 1;
    const Stream from(0), to(there);
    std::vector<int> got(1);
    void* const source = allocate(4, 0, from.get());
    void* const target = allocate(4, there, to.get());
    Event event(0);
    set_bytes(source, 1, 4, from.get());
    event.record(from.get());
    event.wait(to.get());
    copy(target, source, 4, to.get());
    copy(got.data(), target, 4, to.get());
    to.synchronize();
    CHECK(got[0] == 0x01010101);
    CHECK(event.query());
    deallocate(source);
    deallocate(target);
}

TEST_CASE("an event that is moved keeps its position") {
    const Stream stream(0);
    Event event(0);
    event.record(stream.get());
    event.synchronize();
    const Event moved = std::move(event);
    CHECK(moved.query());
}

TEST_CASE("StreamGuard sets this thread's current stream until the end of the scope") {
    const Stream stream(0);
    CHECK(current_stream(0) == nullptr);
    {
        const StreamGuard guard(stream);
        CHECK(current_stream(0) == stream.get());
    }
    CHECK(current_stream(0) == nullptr);
}

TEST_CASE("a device has a name, memory, and a UUID of its own") {
    CHECK_FALSE(device_name(0).empty());
    CHECK(memory_info(0).free <= memory_info(0).total);
    CHECK(device_uuid(0).size() == std::string("GPU-").size() + 36);
    for (int other = 1; other < device_count(); ++other)
        CHECK(device_uuid(other) != device_uuid(0));
}

}  // namespace
}  // namespace mini::cuda
