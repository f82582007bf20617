// The allocator, while the device is not done: a thread that waits for it does not hold
// up threads that need no more than what is kept. (With a peer lost, that is who aborts
// the communication, for whose end the first thread waits.)

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/devices.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/held_stream.hpp"

namespace mini::cuda {
namespace {

using test::Caching;
using test::HeldStream;
using test::kMiB;

// Starts `wait`, which is to wait for the held stream, and does `meanwhile` beside it.
// The test fails, and does not hang, where `meanwhile` has to wait as well.
void check_beside(HeldStream& held, const std::function<void()>& wait,
                  const std::function<void()>& meanwhile) {
    auto waiting = std::async(std::launch::async, wait);
    auto other = std::async(std::launch::async, meanwhile);
    CHECK(other.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    CHECK(waiting.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    held.let_go();
    other.get();
    waiting.get();
}

// Does `body` some times, for longer than a thread takes to come to where it waits.
void again_and_again(const std::function<void()>& body) {
    for (int i = 0; i < 50; ++i) {
        body();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

TEST_CASE("who waits for memory does not hold up who frees some") {
    const Caching on(true);
    deallocate(allocate(512, 0, nullptr));  // kept, with room for more
    HeldStream held(0);
    void* const used = allocate(4 * kMiB, 0, nullptr);
    record_stream(used, held.get());
    deallocate(used);
    const size_t retries = memory_stats(0).retries;

    // More than there is: everything kept is to be given back, and `used` waits for its
    // stream.
    const auto wait = [] {
        try {
            allocate(memory_info(0).total + 1, 0, nullptr);
        } catch (const CudaError&) {
            return;
        }
        throw Error("there was enough memory");
    };
    check_beside(held, wait, [&] {
        while (memory_stats(0).retries == retries) std::this_thread::yield();
        again_and_again([&] {
            void* const pointer = allocate(512, 0, nullptr);
            record_stream(pointer, held.get());
            deallocate(pointer);
            memory_stats(0);
        });
    });
}

TEST_CASE("memory that is the device's own is given back beside everyone else") {
    const Caching off(false);
    HeldStream held(0);
    void* const own = allocate(4 * kMiB, 0, held.get());
    set_bytes(own, 1, 4 * kMiB, held.get());
    const size_t allocated = memory_stats(0).allocated;
    check_beside(
        held, [&] { deallocate(own); },  // cudaFree waits for the device
        [&] {
            while (memory_stats(0).allocated == allocated) std::this_thread::yield();
            again_and_again([] { MINI_CHECK(!caching(), "the cache is on"); });
        });
}

TEST_CASE("who empties the cache of pinned memory does not hold up who takes some") {
    const Caching on(true);
    empty_pinned_cache();
    HeldStream held(0);
    void* const device = allocate(4 * kMiB, 0, held.get());
    void* const copied = allocate_pinned(4 * kMiB);
    copy(device, copied, 4 * kMiB, held.get());
    deallocate_pinned(copied);
    check_beside(
        held, [] { empty_pinned_cache(); },
        [&] {
            again_and_again([&] {
                void* const other = allocate_pinned(64);
                record_stream(other, held.get());
                deallocate_pinned(other);
            });
        });
    deallocate(device);
    empty_pinned_cache();
}

}  // namespace
}  // namespace mini::cuda
