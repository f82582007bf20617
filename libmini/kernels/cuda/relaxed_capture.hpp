// While a thread captures a stream, CUDA rejects the thread's calls that cannot be part
// of a graph, such as cudaMalloc and cudaEventQuery, and invalidates the capture. But
// such calls are harmless if they only manage memory outside the graph.

#pragma once

#include <cuda_runtime.h>

namespace mini::cuda {

/// Allows this thread to call cudaMalloc, cudaEventQuery etc. until the end of the scope.
class RelaxedCapture {
  public:
    RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    // The mode to exchange with the thread's: relaxed first, then the previous mode.
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace mini::cuda
