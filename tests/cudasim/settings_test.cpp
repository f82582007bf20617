// The simulator's settings from the environment: each is read once, so a case that looks at
// one runs this program again, with only the case that does what is looked at.

#include <string>
#include <utility>
#include <vector>

#include "libmini/cudasim/memory.hpp"
#include "libmini/cudasim/stream.hpp"
#include "tests/cudasim/simulator_support.hpp"
#include "tests/kernels/cuda/run_self.hpp"
#include "tests/support/contains.hpp"

namespace mini::sim {
namespace {

using test::contains;
using test::Outcome;
using test::run_self;
using List = std::vector<int>;

// The last case's words: that it ran, and not that no case has its name.
void check_passes(const std::string& setting, const std::string& test) {
    const Outcome outcome = run_self(setting, test);
    CAPTURE(setting, test, outcome.text);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.text, "All tests passed"));
}

// What one sees of the order without waiting: work of one stream, a copy to pinned memory, and
// work that another stream's comes after.
struct Seen {
    List list;
    int copied = 0;
};
Seen without_waiting() {
    static List list;  // outlives work that never runs
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

// Hidden: what the cases below start as programs of their own.

TEST_CASE("work runs when it is given", "[.]") {
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

        // All of it can be had, in pieces too, and not a byte more.
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

    // Pinned memory is the host's, which the setting is not about.
    void* pinned = nullptr;
    ok(cudaMallocHost(&pinned, 2 * kMillion));
    ok(cudaFreeHost(pinned));
}

TEST_CASE("a device has 16 GiB", "[.]") {
    CHECK(memory_use(0).total == size_t{16} << 30);
}

TEST_CASE("the machine can be had", "[.]") {
    const auto lock = Machine::instance().lock();
    CHECK(memory_use(0).used == 0);
}

// The cases that look.

TEST_CASE(
    "MINI_SIM_ORDER eager runs work when it is given and lazy when the host waits") {
    check_passes("MINI_SIM_ORDER=eager", "work runs when it is given");
    check_passes("MINI_SIM_ORDER=lazy", "work waits until the host does");
    check_passes("-u MINI_SIM_ORDER", "work waits until the host does");

    // Neither case passes for any order.
    CHECK(run_self("MINI_SIM_ORDER=lazy", "work runs when it is given").code != 0);
    CHECK(run_self("MINI_SIM_ORDER=eager", "work waits until the host does").code != 0);
}

TEST_CASE("MINI_SIM_MEMORY is what each device has and 16 GiB where it is not set") {
    check_passes("MINI_SIM_MEMORY=1000000", "a device has a million bytes");
    check_passes("-u MINI_SIM_MEMORY", "a device has 16 GiB");
    check_passes("MINI_SIM_MEMORY=", "a device has 16 GiB");
}

TEST_CASE("a setting of the simulator that makes no sense is an error that names it") {
    for (const auto& [setting, says] : std::vector<std::pair<std::string, std::string>>{
             {"MINI_SIM_ORDER=early", "MINI_SIM_ORDER=early: lazy or eager is needed"},
             {"MINI_SIM_MEMORY=16G", "MINI_SIM_MEMORY=16G: a whole number from 1"},
             {"MINI_SIM_MEMORY=0", "MINI_SIM_MEMORY=0: a whole number from 1"},
             {"MINI_SIM_MEMORY=-1", "MINI_SIM_MEMORY=-1: a whole number from 1"},
             {"MINI_SIM_MEMORY=99999999999999",
              "MINI_SIM_MEMORY=99999999999999: a whole"}}) {
        const Outcome outcome = run_self(setting, "the machine can be had");
        CAPTURE(setting, outcome.text);
        CHECK(outcome.code != 0);
        CHECK(contains(outcome.text, says));
    }
}

}  // namespace
}  // namespace mini::sim
