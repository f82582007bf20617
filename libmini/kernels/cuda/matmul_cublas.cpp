// The top rung: cuBLAS, whose matrices are column-major. A row-major matrix read as
// column-major is its transpose, and out' = (a b)' = b' a', so b is passed first, and the
// result is a row-major out.
//
// A handle serves one thread and one stream: all its products use one workspace, so
// products on two streams would overwrite each other's data.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <utility>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/matmul_ladder.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // NVIDIA's advice for Hopper

void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw mini::cuda::CudaError(concat(call, ": ", cublasGetStatusName(status), ", ",
                                       cublasGetStatusString(status)));
}

class Handle {
  public:
    Handle(int device, cudaStream_t stream) : device_(device) {
        check(cublasCreate(&handle_), "cublasCreate");
        try {
            workspace_ = mini::cuda::allocate(kWorkspaceBytes, device, stream);
            check(cublasSetStream(handle_, stream), "cublasSetStream");
            check(cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes),
                  "cublasSetWorkspace");
        } catch (...) {
            release();
            throw;
        }
    }
    ~Handle() { release(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    cublasHandle_t get() const { return handle_; }

  private:
    void release() noexcept {
        try {
            const mini::cuda::DeviceGuard guard(device_);  // the handle's device
            cublasDestroy(handle_);
        } catch (const Error&) {  // the driver has shut down
        }
        if (workspace_ != nullptr) mini::cuda::deallocate(workspace_);
    }

    int device_;
    cublasHandle_t handle_ = nullptr;
    void* workspace_ = nullptr;
};

// Returns this thread's handle for a stream of the current device.
cublasHandle_t handle_of(cudaStream_t stream) {
    thread_local std::map<std::pair<int, cudaStream_t>, Handle> handles;
    const int device = mini::cuda::current_device();
    const auto [place, made] = handles.try_emplace({device, stream}, device, stream);
    return place->second.get();
}

}  // namespace

bool has_cublas() { return true; }

void matmul_cublas(const Product& p, bool allow_tf32, cudaStream_t stream) {
    const cublasHandle_t handle = handle_of(stream);
    check(cublasSetMathMode(
              handle, allow_tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
          "cublasSetMathMode");

    const bool a_transposed = p.a.col_step != 1, b_transposed = p.b.col_step != 1;
    const int64_t a_pitch = a_transposed ? p.a.col_step : p.a.row_step;
    const int64_t b_pitch = b_transposed ? p.b.col_step : p.b.row_step;
    const float one = 1.0f, old = p.accumulate ? 1.0f : 0.0f;
    check(cublasSgemm_64(handle, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                         a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, p.b.cols, p.a.rows,
                         p.a.cols, &one, p.b.data, b_pitch, p.a.data, a_pitch, &old,
                         p.out, p.b.cols),
          "cublasSgemm");
}

}  // namespace mini::kernels::cuda
