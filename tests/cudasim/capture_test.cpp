// Capture and replay, and what a capture forbids.

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/cudasim/simulator_support.hpp"

namespace mini::sim {
namespace {

using List = std::vector<int>;

cudaError_t begin(cudaStream_t stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
}

// Ends a capture that must fail, with this error.
void ends_with(cudaStream_t stream, cudaError_t error) {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph) == error);
    CHECK(graph == nullptr);
    cudaGetLastError();
}

// A graph that can be launched, until the end of the scope.
struct TestGraph {
    explicit TestGraph(cudaStream_t captured) {
        cudaGraph_t graph = nullptr;
        ok(cudaStreamEndCapture(captured, &graph));
        ok(cudaGraphInstantiate(&exec, graph));
        ok(cudaGraphDestroy(graph));
    }
    ~TestGraph() { cudaGraphExecDestroy(exec); }
    TestGraph(const TestGraph&) = delete;
    TestGraph& operator=(const TestGraph&) = delete;
    operator cudaGraphExec_t() const { return exec; }

    cudaGraphExec_t exec = nullptr;
};

TEST_CASE("what is captured runs at each launch and not before") {
    const TestStream stream, other;
    List list;
    ok(begin(stream));
    ok(append(list, 1, stream));
    ok(append(list, 2, stream));
    const TestGraph graph(stream);
    ok(cudaDeviceSynchronize());
    CHECK(list == List{});
    ok(append(list, 0, stream));
    ok(cudaGraphLaunch(graph, stream));
    ok(cudaGraphLaunch(graph, other));  // after the first launch
    ok(cudaStreamSynchronize(other));
    CHECK(list == List{0, 1, 2, 1, 2});
}

TEST_CASE("a captured copy and fill work on the memory as it is at the launch") {
    const TestStream stream;
    const TestInts device(2), pinned(2, true);
    ok(begin(stream));
    ok(cudaMemcpyAsync(device.data, pinned.data, 4, cudaMemcpyHostToDevice, stream));
    ok(cudaMemsetAsync(device.data + 1, 0xff, 4, stream));
    ok(cudaMemcpyAsync(pinned.data + 1, device.data, 4, cudaMemcpyDeviceToHost, stream));
    const TestGraph graph(stream);
    for (int value : {5, 6}) {
        *pinned.data = value;
        ok(cudaGraphLaunch(graph, stream));
        int got[2] = {};
        ok(cudaMemcpyAsync(got, device.data, 8, cudaMemcpyDeviceToHost, stream));
        CHECK(got[0] == value);
        CHECK(got[1] == -1);
        CHECK(pinned.data[1] == value);
    }
}

TEST_CASE("streams join a capture through events and must be waited for") {
    const TestStream origin, branch;
    const TestEvent forked, joined;
    List list;
    ok(begin(origin));
    ok(append(list, 1, origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 2, branch));
    ok(cudaEventRecord(joined, branch));
    ok(append(list, 3, origin));
    ok(cudaStreamWaitEvent(origin, joined));
    ok(append(list, 4, origin));
    const TestGraph graph(origin);
    ok(cudaGraphLaunch(graph, origin));
    ok(cudaStreamSynchronize(origin));
    REQUIRE(list.size() == 4);
    CHECK(list.front() == 1);
    CHECK(list.back() == 4);
    CHECK(std::count(list.begin(), list.end(), 2) == 1);

    // The branch is an ordinary stream again.
    ok(append(list, 5, branch));
    ok(cudaStreamSynchronize(branch));
    CHECK(list.back() == 5);
}

TEST_CASE("work after a launch comes after all branches of the graph") {
    const TestStream origin, branch;
    const TestEvent forked, joined;
    List list;
    ok(begin(origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 2, branch));
    ok(cudaEventRecord(joined, branch));
    ok(cudaStreamWaitEvent(origin, joined));
    const TestGraph graph(origin);
    ok(append(list, 1, origin));
    ok(cudaGraphLaunch(graph, origin));
    ok(append(list, 3, origin));
    ok(cudaStreamSynchronize(origin));
    CHECK(list == List{1, 2, 3});
}

TEST_CASE("a capture without its branch's end is an error") {
    const TestStream origin, branch;
    const TestEvent forked;
    List list;
    ok(begin(origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 1, branch));
    ends_with(branch, cudaErrorStreamCaptureUnmatched);
    ends_with(origin, cudaErrorStreamCaptureInvalidated);
    ok(begin(origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 1, branch));
    ends_with(origin, cudaErrorStreamCaptureUnjoined);
}

TEST_CASE("calls that a capture cannot contain spoil it") {
    const TestStream stream;
    const TestInts device(1);
    int host = 0;
    int* pointer = nullptr;
    const auto spoils = [&](auto call) {
        ok(begin(stream));
        CHECK(call() == cudaErrorStreamCaptureUnsupported);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        ok(cudaStreamIsCapturing(stream, &status));
        CHECK(status == cudaStreamCaptureStatusInvalidated);
        ends_with(stream, cudaErrorStreamCaptureInvalidated);
    };
    spoils([&] { return cudaStreamSynchronize(stream); });
    spoils([&] { return cudaStreamQuery(stream); });
    spoils([&] { return cudaDeviceSynchronize(); });
    spoils([&] { return cudaMalloc(&pointer, 4); });
    spoils([&] { return cudaFree(device.data); });
    spoils([&] {
        return cudaMemcpyAsync(&host, device.data, 4, cudaMemcpyDeviceToHost, stream);
    });
    spoils([&] {
        return cudaMemcpyAsync(device.data, &host, 4, cudaMemcpyHostToDevice, stream);
    });
}

TEST_CASE("a thread that relaxes its mode may allocate during a capture") {
    const TestStream stream;
    ok(begin(stream));
    auto mode = cudaStreamCaptureModeRelaxed;
    ok(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    int* pointer = nullptr;
    ok(cudaMalloc(&pointer, 4));
    ok(cudaThreadExchangeStreamCaptureMode(&mode));
    const TestGraph graph(stream);
    ok(cudaFree(pointer));
}

TEST_CASE("a global capture forbids other threads what a local one allows") {
    const auto mode =
        GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal);
    const TestStream stream;
    ok(cudaStreamBeginCapture(stream, mode));
    cudaError_t error = cudaSuccess;
    std::thread([&] {
        int* pointer = nullptr;
        error = cudaMalloc(&pointer, 4);
        if (error == cudaSuccess) error = cudaFree(pointer);
    }).join();
    if (mode == cudaStreamCaptureModeGlobal) {
        CHECK(error == cudaErrorStreamCaptureUnsupported);
        ends_with(stream, cudaErrorStreamCaptureInvalidated);
    } else {
        CHECK(error == cudaSuccess);
        const TestGraph graph(stream);
    }
}

TEST_CASE("a capture keeps apart from work that is not captured") {
    const TestStream stream, outside, blocking(cudaStreamDefault);
    const TestEvent event, captured;
    List list;
    CHECK(begin(nullptr) == cudaErrorStreamCaptureUnsupported);
    ok(cudaEventRecord(event, outside));

    ok(begin(stream));
    CHECK(begin(stream) == cudaErrorIllegalState);
    CHECK(cudaStreamWaitEvent(stream, event) == cudaErrorStreamCaptureIsolation);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);

    ok(begin(stream));
    ok(cudaEventRecord(captured, stream));
    CHECK(cudaEventQuery(captured) == cudaErrorCapturedEvent);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);

    ok(begin(stream));
    ok(begin(outside));
    ok(cudaEventRecord(captured, stream));
    CHECK(cudaStreamWaitEvent(outside, captured) == cudaErrorStreamCaptureMerge);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    ends_with(outside, cudaErrorStreamCaptureInvalidated);

    ok(begin(blocking));
    CHECK(append(list, 1, nullptr) == cudaErrorStreamCaptureImplicit);
    ends_with(blocking, cudaErrorStreamCaptureInvalidated);
    ends_with(stream, cudaErrorIllegalState);
}

TEST_CASE("a capture ends on the thread that began it") {
    const TestStream stream;
    ok(begin(stream));
    cudaError_t error = cudaSuccess;
    std::thread([&] {
        cudaGraph_t graph = nullptr;
        error = cudaStreamEndCapture(stream, &graph);
    }).join();
    CHECK(error == cudaErrorStreamCaptureWrongThread);
    const TestGraph graph(stream);
}

}  // namespace
}  // namespace mini::sim
