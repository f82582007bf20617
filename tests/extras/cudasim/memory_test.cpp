// The simulator's memory, through the CUDA interface.

#include <cstdint>
#include <vector>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {
namespace {

// Memory of a device, until the end of the scope.
struct DeviceMemory {
    explicit DeviceMemory(size_t bytes, int device = 0) {
        REQUIRE(cudaSetDevice(device) == cudaSuccess);
        REQUIRE(cudaMalloc(&pointer, bytes) == cudaSuccess);
        REQUIRE(cudaSetDevice(0) == cudaSuccess);
    }
    ~DeviceMemory() {
        if (pointer != nullptr) cudaFree(pointer);
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    std::byte* pointer = nullptr;
};

TEST_CASE("device_of returns the device of an address") {
    const DeviceMemory on_0(100, 0), on_3(100, 3);
    int on_host = 0;
    void* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 100) == cudaSuccess);
    CHECK(device_of(on_0.pointer) == 0);
    CHECK(device_of(on_3.pointer + 99) == 3);
    CHECK(device_of(pinned) == kPinned);
    CHECK(device_of(&on_host) == kPageable);
    CHECK(device_of(nullptr) == kPageable);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("find_allocation finds an allocation by addresses in it or in its red zone") {
    const size_t bytes = GENERATE(size_t{1}, size_t{511}, size_t{4096}, size_t{100000});
    const DeviceMemory memory(bytes);
    for (const size_t offset : {size_t{0}, bytes - 1, bytes, bytes + kRedZoneBytes - 1}) {
        CAPTURE(bytes, offset);
        const auto found = find_allocation(memory.pointer + offset);
        CHECK(found.begin == memory.pointer);
        CHECK(found.bytes == bytes);
        CHECK_FALSE(found.freed);
        CHECK(found.contains(memory.pointer + offset, 1) == (offset < bytes));
    }
}

TEST_CASE("allocations are aligned and separated by red zones") {
    std::vector<std::byte*> pointers;
    for (const size_t bytes : {1, 4096, 513, 4095, 8192}) {
        std::byte* pointer = nullptr;
        REQUIRE(cudaMalloc(&pointer, bytes) == cudaSuccess);
        CHECK(reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0);
        if (!pointers.empty()) {
            const auto before = find_allocation(pointers.back());
            CHECK(pointer >= before.begin + before.bytes + kRedZoneBytes);
        }
        pointers.push_back(pointer);
    }
    for (std::byte* pointer : pointers) CHECK(cudaFree(pointer) == cudaSuccess);
}

TEST_CASE("freed allocations can still be found and their addresses are not reused") {
    std::byte* first = nullptr;
    REQUIRE(cudaMalloc(&first, 1000) == cudaSuccess);
    REQUIRE(cudaFree(first) == cudaSuccess);
    const auto gone = find_allocation(first + 999);
    CHECK(gone.freed);
    const DeviceMemory second(1000);
    CHECK(second.pointer != first);
    CHECK(find_allocation(second.pointer).id > gone.id);
}

TEST_CASE("an invalid free is an error and changes no allocation") {
    const DeviceMemory memory(1000);
    int on_host = 0;
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaFree(&on_host) == cudaErrorInvalidValue);
    CHECK(cudaFree(memory.pointer + 1) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(memory.pointer) == cudaErrorInvalidValue);
    std::byte* twice = nullptr;
    REQUIRE(cudaMalloc(&twice, 8) == cudaSuccess);
    CHECK(cudaFree(twice) == cudaSuccess);
    CHECK(cudaFree(twice) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK_FALSE(find_allocation(memory.pointer).freed);
}

TEST_CASE("cudaMemGetInfo reports the free memory and a larger allocation fails") {
    size_t free = 0, total = 0, after = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    {
        const DeviceMemory memory(12345);
        REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
        CHECK(after == free - 12345);
        std::byte* more = nullptr;
        CHECK(cudaMalloc(&more, free) == cudaErrorMemoryAllocation);
        CHECK(more == nullptr);
        CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    }
    REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(after == free);
}

TEST_CASE("a copy outside its allocations or with a wrong direction is an error") {
    const DeviceMemory memory(16), other(16, 1);
    std::vector<std::byte> host(32);
    const auto copy = [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
        return cudaMemcpy(to, from, bytes, kind);
    };
    std::byte* const device = memory.pointer;
    CHECK(copy(device, host.data(), 17, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(copy(device + 8, host.data(), 9, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(copy(device, host.data(), 8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(copy(nullptr, host.data(), 8, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(copy(device, host.data(), 8, static_cast<cudaMemcpyKind>(7)) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(copy(device, host.data(), 16, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(copy(other.pointer, device, 16, cudaMemcpyDefault) == cudaSuccess);
    CHECK(cudaMemcpyPeer(other.pointer, 1, device, 0, 16) == cudaSuccess);
    CHECK(cudaMemcpyPeer(other.pointer, 0, device, 0, 16) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyPeer(other.pointer, 1, device, 1, 16) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyPeer(other.pointer, 1, device, 1000, 16) == cudaErrorInvalidDevice);
    std::byte* managed = nullptr;
    CHECK(cudaMallocManaged(&managed, 16) == cudaSuccess);
    for (const cudaMemcpyKind kind : {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice})
        CHECK(copy(managed, device, 16, kind) == cudaSuccess);
    CHECK(copy(host.data(), managed, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(copy(managed, device, 16, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
    CHECK(cudaFree(managed) == cudaSuccess);
    CHECK(cudaMemset(device, 0, 17) == cudaErrorInvalidValue);
    CHECK(cudaMemset(host.data(), 0, 8) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("every other device is a peer") {
    int can = -1;
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 2) == cudaSuccess);
    CHECK(can == 1);
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 1) == cudaSuccess);
    CHECK(can == 0);
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 1000) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

}  // namespace
}  // namespace mini::sim
