// The CUDA interface: stream capture and graphs.

#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/call.hpp"
#include "libmini/extras/cudasim/graph.hpp"

struct CUgraph_st : mini::sim::Graph {};
struct CUgraphExec_st : mini::sim::Executable {};

namespace {

using mini::sim::Machine;
using mini::sim::report;
using mini::sim::StreamCall;

// Returns the error that keeps a capture from becoming a graph, else cudaSuccess.
cudaError_t end_error(const mini::sim::Capture& capture) {
    if (capture.mode != cudaStreamCaptureModeRelaxed &&
        capture.thread != std::this_thread::get_id())
        return cudaErrorStreamCaptureWrongThread;
    if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
    return mini::sim::all_joined(capture) ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    if (call.stream().legacy) return report(cudaErrorStreamCaptureUnsupported);
    if (call.stream().capture != nullptr) return report(cudaErrorIllegalState);
    mini::sim::begin_capture(call.stream(), mode);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    if (graph == nullptr) return report(cudaErrorInvalidValue);
    *graph = nullptr;
    const std::shared_ptr<mini::sim::Capture> capture = call.stream().capture;
    if (capture == nullptr) return report(cudaErrorIllegalState);
    if (capture->origin != &call.stream()) {
        capture->invalid = true;
        return report(cudaErrorStreamCaptureUnmatched);
    }
    const cudaError_t error = end_error(*capture);
    if (error == cudaErrorStreamCaptureWrongThread) return report(error);
    if (error == cudaSuccess) {
        capture->graph.tail = call.stream().tail;
        *graph = new CUgraph_st{std::move(capture->graph)};
    }
    mini::sim::end_capture(*capture);
    return report(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    const auto& capture = call.stream().capture;
    *status = capture == nullptr ? cudaStreamCaptureStatusNone
              : capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    std::swap(*mode, mini::sim::host_thread().capture_mode);
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long) {
    if (exec == nullptr || graph == nullptr) return report(cudaErrorInvalidValue);
    Machine& machine = Machine::instance();
    const Machine::Lock lock = machine.lock();
    auto made = std::make_unique<CUgraphExec_st>();
    made->graph = *graph;
    made->branches.push_back(nullptr);
    for (size_t i = 1; i < made->graph.devices.size(); ++i)
        made->branches.push_back(machine.create_stream(made->graph.devices[i], false));
    *exec = made.release();
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    StreamCall call(stream);
    if (exec == nullptr) return report(cudaErrorInvalidValue);
    if (const cudaError_t error = call.error_if_captured(); error != cudaSuccess)
        return report(error);
    if (call.stream().device != exec->graph.devices[0])
        return report(cudaErrorInvalidValue);
    mini::sim::launch_graph(call.machine(), call.lock(), *exec, &call.stream());
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    if (exec == nullptr) return report(cudaErrorInvalidValue);
    Machine& machine = Machine::instance();
    const Machine::Lock lock = machine.lock();
    for (mini::sim::Stream* branch : exec->branches)
        if (branch != nullptr) machine.destroy_stream(branch);
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    if (graph == nullptr) return report(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}
