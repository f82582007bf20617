#include "libmini/kernels/cuda/graph.hpp"

#include <cuda_runtime.h>

#include <utility>

namespace mini::cuda {
namespace {

thread_local const uint64_t* offset_of_draws = nullptr;
thread_local const float* rate_of_steps = nullptr;

CUgraph_st* capture(const Stream& stream, const std::function<void()>& work) {
    const DeviceGuard device(stream.device());
    const StreamGuard current(stream);
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");

    // End the capture also after an exception: a stream that stays in capture mode is
    // unusable.
    cudaGraph_t graph = nullptr;
    try {
        work();
    } catch (...) {
        cudaStreamEndCapture(stream.get(), &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        cudaGetLastError();
        throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    return graph;
}

}  // namespace

Graph::Graph(const Stream& stream, const std::function<void()>& work)
    : graph_(capture(stream, work)) {
    const int code = cudaGraphInstantiate(&executable_, graph_, 0);
    if (code != cudaSuccess) cudaGraphDestroy(graph_);
    check(code, "cudaGraphInstantiate");
}

Graph::~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
}

Graph::Graph(Graph&& other) noexcept
    : graph_(std::exchange(other.graph_, nullptr)),
      executable_(std::exchange(other.executable_, nullptr)) {}

void Graph::replay(const Stream& stream) const {
    check(cudaGraphLaunch(executable_, stream.get()), "cudaGraphLaunch");
}

RecordedDraws::RecordedDraws(const uint64_t* more_offset)
    : before_(std::exchange(offset_of_draws, more_offset)) {}

RecordedDraws::~RecordedDraws() { offset_of_draws = before_; }

const uint64_t* RecordedDraws::more_offset() { return offset_of_draws; }

RecordedRate::RecordedRate(const float* rate)
    : before_(std::exchange(rate_of_steps, rate)) {}

RecordedRate::~RecordedRate() { rate_of_steps = before_; }

const float* RecordedRate::rate() { return rate_of_steps; }

}  // namespace mini::cuda
