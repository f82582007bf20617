// The product of two matrices by cuBLAS, whose matrices are column-major. A row-major matrix
// read as column-major is its transpose, and out' = (a b)' = b' a', so b is passed first,
// and the result is a row-major out. cuBLAS may split the sum over k: one version of it gives
// the same bits again only on GPUs of one kind.
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
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // NVIDIA's advice for Hopper

void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw mini::cuda::CudaError(call, ": ", cublasGetStatusName(status), ", ",
                                cublasGetStatusString(status));
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

void matmul(float* out, const float* a, const float* b, int64_t M, int64_t N, int64_t K,
            MatmulOptions options, cudaStream_t stream) {
    if (M == 0 || N == 0) return;
    if (K == 0) {
        const auto bytes = static_cast<size_t>(M * N) * sizeof(float);
        if (!options.accumulate) mini::cuda::set_bytes(out, 0, bytes, stream);
        return;
    }
    const cublasHandle_t handle = handle_of(stream);
    check(cublasSetMathMode(
              handle, allow_tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
          "cublasSetMathMode");
    const float one = 1.0f, old = options.accumulate ? 1.0f : 0.0f;
    check(cublasSgemm_64(handle, options.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                         options.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, N, M, K, &one,
                         b, options.transpose_b ? K : N, a, options.transpose_a ? M : K,
                         &old, out, N),
          "cublasSgemm");
}

}  // namespace mini::kernels::cuda
