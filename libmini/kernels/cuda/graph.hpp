// A piece of a stream's work, recorded once and given again and again as a whole.
//
//     launch, launch, launch, ...   a call of the driver each, some 2 to 5 microseconds
//     graph.replay(stream)          one call for all of them
//
// A replay does the same things to the same addresses: what changes from time to time, a
// batch or a step's number, has to change in memory that the graph reads.

#pragma once

#include <cstdint>
#include <functional>

#include "libmini/kernels/cuda/runtime.hpp"

struct CUgraph_st;
struct CUgraphExec_st;

namespace mini::cuda {

/// Work of one stream (`torch.cuda.CUDAGraph`).
class Graph {
  public:
    /// Records what `work` gives to `stream` instead of doing it, and joins other streams
    /// that wait for its events. `work` runs once, here: it must not wait for the device
    /// nor ask it for memory, so run it before once or twice in the usual way (caches are
    /// filled, handles are made). Throws CudaError for what cannot be recorded, and what
    /// `work` throws; the stream is as it was then.
    /// REQUIRES: `stream` is not the default stream, and is idle as far as `work` goes.
    Graph(const Stream& stream, const std::function<void()>& work);
    ~Graph();
    Graph(Graph&& other) noexcept;
    Graph& operator=(Graph&&) = delete;

    /// Gives the recorded work to a stream of the same device, in its order.
    void replay(const Stream& stream) const;

  private:
    CUgraph_st* graph_ = nullptr;
    CUgraphExec_st* executable_ = nullptr;
};

/// A number in device memory that the random draws of this thread add to their offset,
/// for the length of a scope in which they are recorded: a replay draws other numbers if
/// it moves the number on (kernels.hpp, PhiloxState).
class RecordedDraws {
  public:
    explicit RecordedDraws(const uint64_t* more_offset);
    ~RecordedDraws();
    RecordedDraws(const RecordedDraws&) = delete;
    RecordedDraws& operator=(const RecordedDraws&) = delete;

    /// The innermost scope's number; null outside of all.
    static const uint64_t* more_offset();

  private:
    const uint64_t* before_;
};

}  // namespace mini::cuda
