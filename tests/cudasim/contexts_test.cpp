// Which devices a process opens, which on a GPU costs memory: those it uses and no other.

#include <future>
#include <string>
#include <utility>

#include "libmini/cudasim/call.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/devices.hpp"
#include "tests/kernels/cuda/run_self.hpp"

namespace mini::cuda {
namespace {

using sim::has_context;

// All that a rank does with its device, on a thread that begins on device 0.
void use(int device) {
    const DeviceGuard guard(device);
    const Stream stream(device), other(device);
    void* const memory = allocate(1 << 20, device, stream.get());
    void* const pinned = allocate_pinned(4096);
    copy(memory, pinned, 4096, stream.get());
    deallocate_pinned(pinned);
    record_stream(memory, other.get());
    deallocate(memory);
}

// What happens to events and memory once no thread is on their device.
void use_afterwards(int device) {
    Event event(device);
    event.record(current_stream(device));
    event.synchronize();
    CHECK(event.query());
    const Event moved = std::move(event);
    deallocate_pinned(allocate_pinned(4096));
    synchronize(device);
}

// Hidden: a program of its own, in which nothing else has opened a device.
TEST_CASE("a thread that comes back to a device in name", "[.]") {
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

    // Who then uses device 0 is there in fact as well.
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

TEST_CASE("going to a device and back opens no other") {
    const test::Outcome outcome =
        test::run_self("LC_ALL=C", "a thread that comes back to a device in name");
    CAPTURE(outcome.text);
    CHECK(outcome.code == 0);
    CHECK(outcome.text.find("All tests passed") != std::string::npos);
}

}  // namespace
}  // namespace mini::cuda
