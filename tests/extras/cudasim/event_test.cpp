// Events: positions in streams that the host and other streams wait for.

#include <vector>

#include "tests/extras/cudasim/simulator_support.hpp"

namespace mini::sim {
namespace {

using List = std::vector<int>;

TEST_CASE(
    "work after a wait for an event runs after the work before the event's record") {
    const TestStream first, second;
    const TestEvent event;
    List list;
    ok(append(list, 1, first));
    ok(cudaEventRecord(event, first));
    ok(append(list, 2, first));
    ok(cudaStreamWaitEvent(second, event));
    ok(append(list, 3, second));
    ok(cudaStreamSynchronize(second));
    CHECK(list == List{1, 3});
    ok(cudaStreamSynchronize(first));
    CHECK(list == List{1, 3, 2});
}

TEST_CASE("a stream waits for an event's last earlier record and not for later records") {
    const TestStream first, second;
    const TestEvent event;
    List list;
    ok(append(list, 1, first));
    ok(cudaEventRecord(event, first));
    ok(cudaStreamWaitEvent(second, event));
    ok(append(list, 2, first));
    ok(cudaEventRecord(event, first));
    ok(append(list, 3, second));
    ok(cudaStreamSynchronize(second));
    CHECK(list == List{1, 3});
    ok(cudaEventSynchronize(event));
    CHECK(list == List{1, 3, 2});
}

TEST_CASE("waiting for an event that was never recorded returns immediately") {
    const TestStream stream;
    const TestEvent event;
    ok(cudaEventQuery(event));
    ok(cudaEventSynchronize(event));
    ok(cudaStreamWaitEvent(stream, event));
    ok(cudaStreamSynchronize(stream));
}

TEST_CASE("each query of an event runs one operation of the event's stream") {
    const TestStream stream;
    const TestEvent event;
    List list;
    ok(append(list, 1, stream));
    ok(cudaEventRecord(event, stream));
    ok(append(list, 2, stream));
    int queries = 1;
    while (cudaEventQuery(event) == cudaErrorNotReady) ++queries;
    CHECK(queries == 3);  // one for each operation, then one that returns cudaSuccess
    CHECK(list == List{1});
    ok(cudaDeviceSynchronize());
    cudaGetLastError();
}

TEST_CASE("a stream can wait for an event of another device") {
    List list;
    ok(cudaSetDevice(1));
    const TestStream there;
    const TestEvent event;
    ok(append(list, 1, there));
    ok(cudaEventRecord(event, there));
    ok(cudaSetDevice(0));
    const TestStream here;
    CHECK(cudaEventRecord(event, here) == cudaErrorInvalidResourceHandle);
    ok(cudaStreamWaitEvent(here, event));
    ok(append(list, 2, here));
    ok(cudaStreamSynchronize(here));
    CHECK(list == List{1, 2});
    cudaGetLastError();
}

TEST_CASE("cudaEventElapsedTime needs two completed events with timing") {
    const TestStream stream;
    const TestEvent start(cudaEventDefault), end(cudaEventDefault), plain;
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end) ==
          cudaErrorInvalidResourceHandle);
    ok(cudaEventRecord(start, stream));
    ok(cudaEventRecord(end, stream));
    ok(cudaEventRecord(plain, stream));
    CHECK(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorNotReady);
    ok(cudaStreamSynchronize(stream));
    ok(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
    CHECK(cudaEventElapsedTime(&milliseconds, start, plain) ==
          cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

TEST_CASE("cudaEventCreateWithFlags takes the flags that CUDA has") {
    cudaEvent_t event = nullptr;
    for (const unsigned flags : {0u, 1u, 2u, 3u, 6u, 7u}) {
        ok(cudaEventCreateWithFlags(&event, flags));
        ok(cudaEventDestroy(event));
    }
    for (const unsigned flags : {4u, 5u, 8u})
        CHECK(cudaEventCreateWithFlags(&event, flags) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("an event may be destroyed before the work that waits for it has run") {
    const TestStream first, second;
    List list;
    ok(append(list, 1, first));
    {
        const TestEvent event;
        ok(cudaEventRecord(event, first));
        ok(cudaStreamWaitEvent(second, event));
    }
    ok(append(list, 2, second));
    ok(cudaStreamSynchronize(second));
    CHECK(list == List{1, 2});
    cudaEvent_t destroyed = nullptr;
    ok(cudaEventCreate(&destroyed));
    ok(cudaEventDestroy(destroyed));
    CHECK(cudaEventDestroy(destroyed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventQuery(destroyed) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

}  // namespace
}  // namespace mini::sim
