#include "tests/extras/cudasim/atomics.hpp"

#include <algorithm>
#include <vector>

#include "tests/extras/cudasim/simulator_support.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {
namespace {

constexpr int kBlocks = 5, kThreads = 50, kAll = kBlocks * kThreads;

// `count` numbers of device memory, initialised to 0.
template <typename T>
struct Numbers {
    explicit Numbers(size_t count) : count(count) {
        ok(cudaMalloc(&data, count * sizeof(T)));
        ok(cudaMemset(data, 0, count * sizeof(T)));
    }
    ~Numbers() { cudaFree(data); }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;

    std::vector<T> values() const {
        std::vector<T> host(count);
        ok(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

    T* data = nullptr;
    size_t count;
};

TEMPLATE_TEST_CASE("atomicCAS writes only where it finds the expected value", "", int,
                   unsigned, unsigned long long) {
    const Numbers<TestType> total(1);
    patterns::add_by_swap(total.data, kBlocks, kThreads);
    CHECK(total.values()[0] == kAll * (kAll - 1) / 2);
}

TEMPLATE_TEST_CASE("atomicExch returns each value to exactly one thread", "", int,
                   unsigned, unsigned long long, float) {
    const Numbers<TestType> found(kAll), last(1);
    ok(cudaMemset(last.data, 0xff, sizeof(TestType)));
    const TestType first = last.values()[0];
    patterns::exchange_all(found.data, last.data, kBlocks, kThreads);

    // The values form a chain: the first, and each thread's but that of the last thread.
    std::vector<TestType> all = found.values();
    all.push_back(last.values()[0]);
    const bool known = std::any_of(all.begin(), all.end(), [&](TestType value) {
        return value == first || value != value;  // NaN in float
    });
    CHECK(known);
    std::erase_if(all, [&](TestType value) { return value == first || value != value; });
    std::sort(all.begin(), all.end());
    REQUIRE(all.size() == kAll);
    for (int i = 0; i < kAll; ++i)
        CHECK(all[static_cast<size_t>(i)] == static_cast<TestType>(i));
}

}  // namespace
}  // namespace mini::sim
