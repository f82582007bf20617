// Stream capture and graphs: operations written down once and given to the streams again and
// again.
//
// While a stream captures, an operation given to it becomes a node. An event recorded there
// carries the capture to the streams that wait for it, each a branch of its own:
//
//     origin    A -> record e ------------------> wait f -> D        A: {}    B: {A}
//     branch 1          wait e -> B -> record f                      D: {A, B}
//
// A launch gives the nodes of the first branch to the launch's stream, those of the others to
// streams of the graph's own, each after the nodes that it names.

#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "libmini/cudasim/stream.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

struct Node {
    Job job;
    size_t branch = 0;
    std::vector<size_t> after;  // lower numbers
};

struct Graph {
    std::vector<Node> nodes;
    std::vector<int> devices;  // of each branch
    std::vector<size_t> tail;  // what comes after the launch comes after these
};

/// Between cudaStreamBeginCapture and cudaStreamEndCapture.
struct Capture {
    Graph graph;
    Stream* origin = nullptr;
    std::vector<Stream*> streams;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;
    bool invalid = false;
    bool over = false;
};

/// A graph that can be launched.
struct Executable {
    Graph graph;
    std::vector<Stream*> branches;  // [0] is null: the launch's own stream
    OperationPointer last;          // the end of the last launch
};

/// Begins a capture. REQUIRES, as all of the following: the machine's lock.
void begin_capture(Stream& stream, cudaStreamCaptureMode mode);

/// Whether this thread may call what a capture does not see, such as cudaMalloc; if not, the
/// captures that forbid it are spoilt (cudaThreadExchangeStreamCaptureMode).
bool unseen_call_allowed(cudaStreamCaptureMode mode_of_thread);

/// The living captures in which a stream of this device takes part.
std::vector<std::shared_ptr<Capture>> captures_on(int device);

/// Writes a job down. REQUIRES: the stream captures.
cudaError_t capture_job(Stream& stream, Job job);

/// A stream that captures, or joins a capture, comes after these nodes.
cudaError_t capture_wait(Stream& stream, const std::shared_ptr<Capture>& capture,
                         const std::vector<size_t>& nodes);

/// Whether all that was captured comes before the origin's end.
bool all_joined(const Capture& capture);

/// Ends the capture of all its streams.
void end_capture(Capture& capture);

/// Gives a graph to a stream.
void launch_graph(Machine& machine, Machine::Lock& lock, Executable& executable,
                  Stream* stream);

}  // namespace mini::sim
