// While a thread captures a stream, CUDA rejects its calls that cannot be part of a
// graph, such as cudaMalloc and cudaEventQuery, and invalidates the capture. Calls that
// manage memory outside the graph are harmless.

#pragma once

#include <cuda_runtime.h>

namespace mini::cuda {

/// Allows this thread to make such calls until the end of the scope.
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
