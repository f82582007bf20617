// Events: places in streams that hosts and other streams wait for.

#include <vector>

#include "tests/cudasim/simulator_support.hpp"

namespace mini::sim {
namespace {

using List = std::vector<int>;

TEST_CASE("a stream that waits for an event comes after it") {
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

TEST_CASE("a wait is for the record before it and not for a later one") {
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

TEST_CASE("an event that was never recorded holds no stream up") {
    const TestStream stream;
    const TestEvent event;
    ok(cudaEventQuery(event));
    ok(cudaEventSynchronize(event));
    ok(cudaStreamWaitEvent(stream, event));
    ok(cudaStreamSynchronize(stream));
}

TEST_CASE("asking an event brings its stream forward") {
    const TestStream stream;
    const TestEvent event;
    List list;
    ok(append(list, 1, stream));
    ok(cudaEventRecord(event, stream));
    ok(append(list, 2, stream));
    int questions = 1;
    while (cudaEventQuery(event) == cudaErrorNotReady) ++questions;
    CHECK(questions == 3);  // one for each operation, one for the answer
    CHECK(list == List{1});
    ok(cudaDeviceSynchronize());
    cudaGetLastError();
}

TEST_CASE("a wait holds across devices") {
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

TEST_CASE("elapsed time needs two timed events that are done") {
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

TEST_CASE("an event may go before what waits for it") {
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
    cudaEvent_t gone = nullptr;
    ok(cudaEventCreate(&gone));
    ok(cudaEventDestroy(gone));
    CHECK(cudaEventDestroy(gone) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventQuery(gone) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

}  // namespace
}  // namespace mini::sim
