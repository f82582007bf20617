// A process creates a context only on the devices that it uses, because a context takes
// memory on a GPU.

#include <future>
#include <string>
#include <utility>

#include "libmini/extras/cudasim/stream.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/kernels/cuda/run_self.hpp"
#include "tests/support/catch.hpp"

namespace mini::cuda {
namespace {

using sim::has_context;

// Uses a device as a rank does, on a thread whose current device is 0.
void use(int device) {
    const DeviceGuard guard(device);
    const Stream stream(device), other(device);
    void* const memory = allocate(1 << 20, device, stream.get());
    void* const pinned = allocate_pinned(4096);
    copy(memory, pinned, 4096, stream.get());
    deallocate(pinned);
    record_stream(memory, other.get());
    deallocate(memory);
}

// Uses events and memory of a device that is not the current device.
void use_afterwards(int device) {
    Event event(device);
    event.record(current_stream(device));
    event.synchronize();
    CHECK(event.query());
    const Event moved = std::move(event);
    deallocate(allocate_pinned(4096));
    synchronize(device);
}

// Hidden: runs in its own process, in which no other test has created a context.
TEST_CASE("a thread that returns to a device does not open it", "[.]") {
    CHECK_FALSE(is_initialized());
    CHECK(device_count() > 2);
    CHECK(is_initialized());
    use(2);
    CHECK(current_device() == 0);
    use_afterwards(2);
    std::async(std::launch::async, [] {
        use(2);
        use_afterwards(2);
    }).get();
    for (const int device : {0, 1, 3}) CHECK_FALSE(has_context(device));
    CHECK(has_context(2));

    // The first use of device 0 creates its context.
    void* const memory = allocate(512, current_device(), nullptr);
    CHECK(has_context(0));
    {
        const DeviceGuard there(2);
        CHECK(current_device() == 2);
        const DeviceGuard here(0);
        CHECK(sim::current_device() == 0);
    }
    CHECK(current_device() == 0);
    CHECK(sim::current_device() == 0);
    deallocate(memory);
}

TEST_CASE("switching to a device and back creates a context only on this device") {
    const test::Answer outcome =
        test::run_self("LC_ALL=C", "a thread that returns to a device does not open it");
    CAPTURE(outcome.text);
    CHECK(outcome.code == 0);
    CHECK(outcome.text.find("All tests passed") != std::string::npos);
}

}  // namespace
}  // namespace mini::cuda
