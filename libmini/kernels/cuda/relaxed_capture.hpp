// While a stream is captured, CUDA refuses its thread calls that no graph can hold, such as
// cudaMalloc and cudaEventQuery, and spoils the capture. Some are harmless: those that
// manage memory beside the graph.

#pragma once

#include <cuda_runtime.h>

namespace mini::cuda {

/// Lets this thread make such calls, until the end of the scope.
class RelaxedCapture {
  public:
    RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the one before
};

}  // namespace mini::cuda
