#include "libmini/tensor/storage.hpp"

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "tests/support/catch.hpp"

using namespace mini;

TEST_CASE("buffers are aligned to 64 bytes") {
    for (const size_t bytes : {size_t{1}, size_t{63}, size_t{65}, size_t{1} << 20}) {
        Storage storage(bytes, Device::cpu());
        CHECK(reinterpret_cast<uintptr_t>(storage.data()) % 64 == 0);
        CHECK(storage.bytes() == bytes);
    }
}

TEST_CASE("an empty storage has no bytes") {
    Storage storage(0, Device::cpu());
    CHECK(storage.data() == nullptr);
}

TEST_CASE("allocated_bytes counts buffers in use, and its peak") {
    const size_t before = allocated_bytes();
    reset_peak_bytes();
    {
        const Storage first(1000, Device::cpu());
        CHECK(allocated_bytes() == before + 1024);
        { const Storage second(64, Device::cpu()); }
        CHECK(allocated_bytes() == before + 1024);
        CHECK(max_allocated_bytes() == before + 1024 + 64);
    }
    CHECK(allocated_bytes() == before);
    CHECK(max_allocated_bytes() == before + 1024 + 64);
    reset_peak_bytes();
    CHECK(max_allocated_bytes() == before);
}

TEST_CASE("a storage can be freed and allocated again") {
    const size_t before = allocated_bytes();
    Storage storage(1000, Device::cpu());
    storage.free();
    storage.free();
    CHECK(storage.data() == nullptr);
    CHECK(storage.bytes() == 1000);
    CHECK(allocated_bytes() == before);
    storage.allocate();
    std::byte* const data = storage.data();
    storage.allocate();
    CHECK(storage.data() == data);
    CHECK(allocated_bytes() == before + 1024);
}

TEST_CASE("buffers can be allocated and freed by several threads concurrently") {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 200; ++i) {
                Storage storage((size_t{64} << 10) * static_cast<size_t>(1 + i % 3),
                                Device::cpu());
                storage.data()[0] = std::byte{1};
            }
        });
}

TEST_CASE("an allocation larger than the memory throws Error") {
    CHECK_THROWS_AS(Storage(size_t{1} << 60, Device::cpu()), Error);
}
