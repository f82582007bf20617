#include "libmini/extras/cudasim/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mini::sim {
namespace {

// The running captures. Guarded by the machine's lock.
std::vector<std::shared_ptr<Capture>>& living() {
    static auto* const all = new std::vector<std::shared_ptr<Capture>>;
    return *all;
}

}  // namespace

void begin_capture(Stream& stream, cudaStreamCaptureMode mode) {
    auto capture = std::make_shared<Capture>();
    capture->origin = &stream;
    capture->streams = {&stream};
    capture->graph.devices = {stream.device};
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    stream.branch = 0;
    stream.tail.clear();
    stream.capture = capture;
    living().push_back(std::move(capture));
}

bool unseen_call_allowed(cudaStreamCaptureMode mode_of_thread) {
    if (mode_of_thread == cudaStreamCaptureModeRelaxed) return true;
    bool allowed = true;
    for (const auto& capture : living()) {
        const bool own = capture->thread == std::this_thread::get_id();
        const bool forbids = own ? capture->mode != cudaStreamCaptureModeRelaxed
                                 : capture->mode == cudaStreamCaptureModeGlobal &&
                                       mode_of_thread == cudaStreamCaptureModeGlobal;
        if (forbids) capture->invalid = true;
        allowed = allowed && !forbids;
    }
    return allowed;
}

std::vector<std::shared_ptr<Capture>> captures_on(int device) {
    std::vector<std::shared_ptr<Capture>> found;
    for (const auto& capture : living())
        if (std::any_of(capture->streams.begin(), capture->streams.end(),
                        [&](const Stream* each) { return each->device == device; }))
            found.push_back(capture);
    return found;
}

cudaError_t capture_job(Stream& stream, Job job) {
    Capture& capture = *stream.capture;
    if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
    auto& nodes = capture.graph.nodes;
    nodes.push_back({std::move(job), stream.branch, stream.tail});
    stream.tail = {nodes.size() - 1};
    return cudaSuccess;
}

cudaError_t capture_wait(Stream& stream, const std::shared_ptr<Capture>& capture,
                         const std::vector<size_t>& nodes) {
    if (capture->over) return cudaErrorCapturedEvent;
    if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
    if (stream.legacy) return cudaErrorStreamCaptureImplicit;
    if (stream.capture == nullptr) {
        stream.capture = capture;
        stream.branch = capture->graph.devices.size();
        stream.tail.clear();
        capture->graph.devices.push_back(stream.device);
        capture->streams.push_back(&stream);
    }
    if (stream.capture != capture) {
        stream.capture->invalid = capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    for (size_t node : nodes)
        if (std::find(stream.tail.begin(), stream.tail.end(), node) == stream.tail.end())
            stream.tail.push_back(node);
    return cudaSuccess;
}

bool all_joined(const Capture& capture) {
    // Walk back from the end of the origin stream. Nodes depend only on nodes with lower
    // indices.
    std::vector<bool> reached(capture.graph.nodes.size());
    for (size_t node : capture.origin->tail) reached[node] = true;
    for (size_t i = reached.size(); i-- > 0;)
        if (reached[i])
            for (size_t earlier : capture.graph.nodes[i].after) reached[earlier] = true;
    return std::all_of(reached.begin(), reached.end(), [](bool each) { return each; });
}

void end_capture(Capture& capture) {
    capture.over = true;
    for (Stream* stream : std::exchange(capture.streams, {})) {
        stream->tail.clear();
        stream->capture.reset();
    }
    std::erase_if(living(), [&](const auto& each) { return each.get() == &capture; });
}

void launch_graph(Machine& machine, Machine::Lock& lock, Executable& executable,
                  Stream* stream) {
    // All nodes depend on `begin`, which depends on the previous launch of the same
    // graph.
    std::vector<OperationPointer> before;
    if (executable.last != nullptr) before.push_back(executable.last);
    const OperationPointer begin = machine.submit(lock, stream, {}, before);

    const Graph& graph = executable.graph;
    std::vector<OperationPointer> submitted;
    for (const Node& node : graph.nodes) {
        std::vector<OperationPointer> after;
        for (size_t earlier : node.after) after.push_back(submitted[earlier]);
        if (after.empty()) after.push_back(begin);
        Stream* const branch = executable.branches[node.branch];
        submitted.push_back(machine.submit(lock, branch == nullptr ? stream : branch,
                                           node.job, std::move(after)));
    }

    std::vector<OperationPointer> ends;
    for (size_t node : graph.tail) ends.push_back(submitted[node]);
    executable.last = machine.submit(lock, stream, {}, std::move(ends));
}

}  // namespace mini::sim
