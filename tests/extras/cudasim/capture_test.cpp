// Stream capture, graph launches, and the calls that a capture forbids.

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/extras/cudasim/simulator_support.hpp"

namespace mini::sim {
namespace {

using List = std::vector<int>;

cudaError_t begin(cudaStream_t stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
}

// Ends the capture. Checks that this fails with `error`.
void check_end_fails(cudaStream_t stream, cudaError_t error) {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph) == error);
    CHECK(graph == nullptr);
    cudaGetLastError();
}

// Ends a capture and instantiates its graph; destroys the graph at the end of the scope.
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

TEST_CASE("captured work runs at each launch and not before") {
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

TEST_CASE("a captured copy or fill uses the contents of memory at the launch") {
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

TEST_CASE("a stream that waits for an event of a capture joins the capture") {
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

TEST_CASE(
    "ending a capture is an error if the origin stream has not waited for a branch") {
    const TestStream origin, branch;
    const TestEvent forked;
    List list;
    ok(begin(origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 1, branch));
    check_end_fails(branch, cudaErrorStreamCaptureUnmatched);
    check_end_fails(origin, cudaErrorStreamCaptureInvalidated);
    ok(begin(origin));
    ok(cudaEventRecord(forked, origin));
    ok(cudaStreamWaitEvent(branch, forked));
    ok(append(list, 1, branch));
    check_end_fails(origin, cudaErrorStreamCaptureUnjoined);
}

TEST_CASE("calls that cannot be captured invalidate the capture") {
    const TestStream stream;
    const TestInts device(1);
    int host = 0;
    int* pointer = nullptr;
    const auto invalidates = [&](auto call) {
        ok(begin(stream));
        CHECK(call() == cudaErrorStreamCaptureUnsupported);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        ok(cudaStreamIsCapturing(stream, &status));
        CHECK(status == cudaStreamCaptureStatusInvalidated);
        check_end_fails(stream, cudaErrorStreamCaptureInvalidated);
    };
    invalidates([&] { return cudaStreamSynchronize(stream); });
    invalidates([&] { return cudaStreamQuery(stream); });
    invalidates([&] { return cudaDeviceSynchronize(); });
    invalidates([&] { return cudaMalloc(&pointer, 4); });
    invalidates([&] { return cudaFree(device.data); });
    invalidates([&] {
        return cudaMemcpyAsync(&host, device.data, 4, cudaMemcpyDeviceToHost, stream);
    });
    invalidates([&] {
        return cudaMemcpyAsync(device.data, &host, 4, cudaMemcpyHostToDevice, stream);
    });
}

TEST_CASE("a thread that sets the relaxed capture mode may allocate during a capture") {
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

TEST_CASE(
    "other threads may allocate in a thread-local capture but not in a global capture") {
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
        check_end_fails(stream, cudaErrorStreamCaptureInvalidated);
    } else {
        CHECK(error == cudaSuccess);
        const TestGraph graph(stream);
    }
}

TEST_CASE(
    "dependencies between captured work and other work or other captures are errors") {
    const TestStream stream, outside, blocking(cudaStreamDefault);
    const TestEvent event, captured;
    List list;
    CHECK(begin(nullptr) == cudaErrorStreamCaptureUnsupported);
    ok(cudaEventRecord(event, outside));

    ok(begin(stream));
    CHECK(begin(stream) == cudaErrorIllegalState);
    CHECK(cudaStreamWaitEvent(stream, event) == cudaErrorStreamCaptureIsolation);
    check_end_fails(stream, cudaErrorStreamCaptureInvalidated);

    ok(begin(stream));
    ok(cudaEventRecord(captured, stream));
    CHECK(cudaEventQuery(captured) == cudaErrorCapturedEvent);
    check_end_fails(stream, cudaErrorStreamCaptureInvalidated);

    ok(begin(stream));
    ok(begin(outside));
    ok(cudaEventRecord(captured, stream));
    CHECK(cudaStreamWaitEvent(outside, captured) == cudaErrorStreamCaptureMerge);
    check_end_fails(stream, cudaErrorStreamCaptureInvalidated);
    check_end_fails(outside, cudaErrorStreamCaptureInvalidated);

    ok(begin(blocking));
    CHECK(append(list, 1, nullptr) == cudaErrorStreamCaptureImplicit);
    check_end_fails(blocking, cudaErrorStreamCaptureInvalidated);
    check_end_fails(stream, cudaErrorIllegalState);
}

TEST_CASE("only the thread that began a capture can end the capture") {
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
