// Stream capture and graphs: operations that are captured once and launched many times.
//
// While a stream is capturing, an operation submitted to it becomes a node. A stream that
// waits for an event of the capture joins the capture as a new branch:
//
//     origin    A -> record e ------------------> wait f -> D        A: {}    B: {A}
//     branch 1          wait e -> B -> record f                      D: {A, B}
//
// A launch submits the nodes of the origin's branch to the launch stream, and the nodes
// of each other branch to an internal stream of the graph. Each node runs after the nodes
// in its `after`.

#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "libmini/extras/cudasim/stream.hpp"
#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

struct Node {
    Job job;
    size_t branch = 0;
    std::vector<size_t>
        after;  // indices of the nodes that this node depends on, lower than its own
};

struct Graph {
    std::vector<Node> nodes;
    std::vector<int> devices;  // by branch
    std::vector<size_t> tail;  // the nodes that later work of the launch stream waits for
};

/// The state of a capture between cudaStreamBeginCapture and cudaStreamEndCapture.
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
    std::vector<Stream*> branches;  // [0] is null: the launch stream
    OperationPointer last;          // the last operation of the previous launch
};

// REQUIRES for all functions below: the machine's lock is held.

/// Begins a capture with `stream` as its origin.
void begin_capture(Stream& stream, cudaStreamCaptureMode mode);

/// Returns whether this thread may call a function that cannot be captured and takes no
/// stream, such as cudaMalloc. If not, invalidates the captures that forbid the call
/// (cudaThreadExchangeStreamCaptureMode).
bool unseen_call_allowed(cudaStreamCaptureMode mode_of_thread);

/// Returns the running captures that include a stream of this device.
std::vector<std::shared_ptr<Capture>> captures_on(int device);

/// Adds a job to the graph as a node; returns an error if the capture is invalid.
/// REQUIRES: the stream is capturing.
cudaError_t capture_job(Stream& stream, Job job);

/// Makes the stream's next node depend on `nodes`; a stream that is not capturing joins
/// the capture. Returns the error that CUDA specifies if this is not possible.
cudaError_t capture_wait(Stream& stream, const std::shared_ptr<Capture>& capture,
                         const std::vector<size_t>& nodes);

/// Returns whether the end of the origin stream depends on every node.
bool all_joined(const Capture& capture);

/// Ends the capture in all its streams.
void end_capture(Capture& capture);

/// Submits the operations of a graph, after those of the graph's previous launch.
void launch_graph(Machine& machine, Machine::Lock& lock, Executable& executable,
                  Stream* stream);

}  // namespace mini::sim
