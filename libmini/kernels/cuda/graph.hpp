// CUDA graphs: a sequence of a stream's work, captured once and launched many times.
//
//     launch, launch, launch, ...   one driver call each, some 2 to 5 microseconds
//     graph.replay(stream)          one driver call for the whole sequence
//
// A replay runs the same operations on the same addresses. Values that change between
// replays, such as a batch or a step number, must be in memory that the graph reads.

#pragma once

#include <cstdint>
#include <functional>

#include "libmini/kernels/cuda/runtime.hpp"

struct CUgraph_st;
struct CUgraphExec_st;

namespace mini::cuda {

/// The captured work of one stream (`torch.cuda.CUDAGraph`).
class Graph {
  public:
    /// Calls `work` once and captures the operations that `work` adds to `stream`; the
    /// operations are not run. Other streams that wait for events of `stream` are
    /// captured too. `work` must neither wait for the device nor call cudaMalloc, so call
    /// it once or twice before, without capture, to fill caches and create handles.
    /// Throws CudaError for operations that cannot be captured, and rethrows exceptions
    /// of `work`; in both cases the stream is unchanged. REQUIRES: `stream` is not the
    /// default stream, and has no pending work that `work` depends on.
    Graph(const Stream& stream, const std::function<void()>& work);
    ~Graph();
    Graph(Graph&& other) noexcept;
    Graph& operator=(Graph&&) = delete;

    /// Launches the captured work in a stream of the same device, in stream order.
    void replay(const Stream& stream) const;

  private:
    CUgraph_st* graph_ = nullptr;
    CUgraphExec_st* executable_ = nullptr;
};

/// While a RecordedDraws lives, random draws of this thread add the number in device
/// memory at `more_offset` to their offset. Use it for draws inside a capture, and
/// advance() the number between replays, so that replays draw different random numbers
/// (kernels.hpp, PhiloxState).
class RecordedDraws {
  public:
    explicit RecordedDraws(const uint64_t* more_offset);
    ~RecordedDraws();
    RecordedDraws(const RecordedDraws&) = delete;
    RecordedDraws& operator=(const RecordedDraws&) = delete;

    /// Returns the pointer of the innermost RecordedDraws of this thread, or null.
    static const uint64_t* more_offset();

  private:
    const uint64_t* before_;
};

/// While a RecordedRate lives, SGD's steps of this thread read their learning rate from
/// device memory at `rate`. Use it for a step inside a capture, and write the number
/// before a replay, in stream order, when the learning rate has changed.
class RecordedRate {
  public:
    explicit RecordedRate(const float* rate);
    ~RecordedRate();
    RecordedRate(const RecordedRate&) = delete;
    RecordedRate& operator=(const RecordedRate&) = delete;

    /// Returns the pointer of the innermost RecordedRate of this thread, or null.
    static const float* rate();

  private:
    const float* before_;
};

}  // namespace mini::cuda
