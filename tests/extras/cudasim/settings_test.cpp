// The simulator's settings from environment variables. Each setting is read once per
// process, so a test of a setting runs this program again with one hidden test.

#include <string>
#include <utility>
#include <vector>

#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/stream.hpp"
#include "tests/extras/cudasim/simulator_support.hpp"
#include "tests/kernels/cuda/run_self.hpp"
#include "tests/support/contains.hpp"

namespace mini::sim {
namespace {

using test::contains;
using test::Outcome;
using test::run_self;
using List = std::vector<int>;

// Checks that a hidden test passes with this setting. Catch2 prints "All tests passed"
// only if a test with this name exists and ran.
void check_passes(const std::string& setting, const std::string& test) {
    const Outcome outcome = run_self(setting, test);
    CAPTURE(setting, test, outcome.text);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.text, "All tests passed"));
}

// The effects of submitted work that the host sees before it waits. The work is kernels
// in two streams, of which the second waits for an event of the first, and a copy to
// pinned memory.
struct Seen {
    List list;
    int copied = 0;
};
Seen without_waiting() {
    static List list;  // static: outlives the work, even if a check fails
    static const TestInts device(1), pinned(1, true);
    static const TestStream first, second;
    static const TestEvent event;
    list.clear();
    *pinned.data = 7;
    ok(append(list, 1, first));
    ok(cudaEventRecord(event, first));
    ok(cudaStreamWaitEvent(second, event, 0));
    ok(append(list, 2, second));
    ok(append(list, 3, first));
    ok(cudaMemcpyAsync(pinned.data, device.data, 4, cudaMemcpyDeviceToHost, first));
    const Seen seen{list, *pinned.data};
    ok(cudaDeviceSynchronize());
    CHECK(list.size() == 3);
    CHECK(*pinned.data == 0);
    return seen;
}

// Hidden tests: the tests below run each of them in its own process.

TEST_CASE("work runs when it is submitted", "[.]") {
    const Seen seen = without_waiting();
    CHECK(seen.list == List{1, 2, 3});
    CHECK(seen.copied == 0);
    const TestStream stream;
    List list;
    ok(append(list, 1, stream));
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
}

TEST_CASE("work waits until the host does", "[.]") {
    const Seen seen = without_waiting();
    CHECK(seen.list.empty());
    CHECK(seen.copied == 7);
}

TEST_CASE("a device has a million bytes", "[.]") {
    constexpr size_t kMillion = 1'000'000;
    for (int device = 0; device < device_count(); ++device) {
        CAPTURE(device);
        ok(cudaSetDevice(device));
        size_t free = 0, total = 0;
        ok(cudaMemGetInfo(&free, &total));
        CHECK(total == kMillion);
        CHECK(free == kMillion);
        cudaDeviceProp properties;
        ok(cudaGetDeviceProperties(&properties, device));
        CHECK(properties.totalGlobalMem == kMillion);

        // All this memory can be allocated, in two pieces, but not one byte more.
        std::byte *first = nullptr, *second = nullptr, *more = nullptr;
        ok(cudaMalloc(&first, kMillion - 1000));
        CHECK(cudaMalloc(&more, 1001) == cudaErrorMemoryAllocation);
        CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
        ok(cudaMalloc(&second, 1000));
        CHECK(cudaMalloc(&more, 1) == cudaErrorMemoryAllocation);
        CHECK(more == nullptr);
        ok(cudaFree(first));
        ok(cudaMalloc(&first, kMillion - 1000));
        ok(cudaFree(first));
        ok(cudaFree(second));
    }

    // The setting does not limit pinned memory, which belongs to the host.
    void* pinned = nullptr;
    ok(cudaMallocHost(&pinned, 2 * kMillion));
    ok(cudaFreeHost(pinned));
}

TEST_CASE("a device has 16 GiB", "[.]") {
    CHECK(memory_use(0).total == size_t{16} << 30);
}

TEST_CASE("the machine starts", "[.]") {
    const auto lock = Machine::instance().lock();
    CHECK(memory_use(0).used == 0);
}

// Tests that run the hidden tests.

TEST_CASE(
    "MINI_SIM_ORDER=eager runs work at its submission and lazy when the host waits") {
    check_passes("MINI_SIM_ORDER=eager", "work runs when it is submitted");
    check_passes("MINI_SIM_ORDER=lazy", "work waits until the host does");
    check_passes("-u MINI_SIM_ORDER", "work waits until the host does");

    // Each hidden test fails with the other order.
    CHECK(run_self("MINI_SIM_ORDER=lazy", "work runs when it is submitted").code != 0);
    CHECK(run_self("MINI_SIM_ORDER=eager", "work waits until the host does").code != 0);
}

TEST_CASE("MINI_SIM_MEMORY is the memory of each device and defaults to 16 GiB") {
    check_passes("MINI_SIM_MEMORY=1000000", "a device has a million bytes");
    check_passes("-u MINI_SIM_MEMORY", "a device has 16 GiB");
    check_passes("MINI_SIM_MEMORY=", "a device has 16 GiB");
}

TEST_CASE("an invalid setting of the simulator is an error that names the setting") {
    for (const auto& [setting, message] :
         std::vector<std::pair<std::string, std::string>>{
             {"MINI_SIM_ORDER=early", "MINI_SIM_ORDER=early: must be lazy or eager"},
             {"MINI_SIM_MEMORY=16G", "MINI_SIM_MEMORY=16G: must be an integer from 1"},
             {"MINI_SIM_MEMORY=0", "MINI_SIM_MEMORY=0: must be an integer from 1"},
             {"MINI_SIM_MEMORY=-1", "MINI_SIM_MEMORY=-1: must be an integer from 1"},
             {"MINI_SIM_MEMORY=99999999999999",
              "MINI_SIM_MEMORY=99999999999999: must be an integer"}}) {
        const Outcome outcome = run_self(setting, "the machine starts");
        CAPTURE(setting, outcome.text);
        CHECK(outcome.code != 0);
        CHECK(contains(outcome.text, message));
    }
}

}  // namespace
}  // namespace mini::sim
