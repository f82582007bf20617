// Helpers for tests of the simulator's streams.

#pragma once

#include <vector>

#include "libmini/extras/cudasim/api.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {

/// Requires that a CUDA call succeeds.
inline void ok(cudaError_t error) {
    INFO(cudaGetErrorString(error));
    REQUIRE(error == cudaSuccess);
}

/// A stream of the current device, until the end of the scope.
struct TestStream {
    explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
        ok(cudaStreamCreateWithFlags(&stream, flags));
    }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }

    cudaStream_t stream = nullptr;
};

struct TestEvent {
    explicit TestEvent(unsigned flags = cudaEventDisableTiming) {
        ok(cudaEventCreateWithFlags(&event, flags));
    }
    ~TestEvent() { cudaEventDestroy(event); }
    TestEvent(const TestEvent&) = delete;
    TestEvent& operator=(const TestEvent&) = delete;
    operator cudaEvent_t() const { return event; }

    cudaEvent_t event = nullptr;
};

/// `count` ints of device or pinned memory, initialised to 0.
struct TestInts {
    explicit TestInts(int count, bool pinned = false) : pinned(pinned) {
        const size_t bytes = static_cast<size_t>(count) * sizeof(int);
        if (pinned) {
            ok(cudaMallocHost(reinterpret_cast<void**>(&data), bytes));
        } else {
            ok(cudaMalloc(&data, bytes));
        }
        ok(cudaMemset(data, 0, bytes));
        ok(cudaDeviceSynchronize());
    }
    ~TestInts() { pinned ? cudaFreeHost(data) : cudaFree(data); }
    TestInts(const TestInts&) = delete;
    TestInts& operator=(const TestInts&) = delete;

    int* data = nullptr;
    bool pinned;
};

/// Launches a kernel of one thread that appends a number to a list: the list records the
/// order of execution.
inline cudaError_t append(std::vector<int>& list, int number, cudaStream_t stream) {
    return cuda::enqueue_body({1, 1, 0, stream}, nullptr,
                              [&list, number] { list.push_back(number); });
}

}  // namespace mini::sim
