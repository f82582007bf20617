// A build without CUDA: there are no devices.

#include "libmini/kernels/gpu.hpp"

#include "libmini/core/error.hpp"

namespace mini::cuda {
namespace {

constexpr const char* kNoCuda =
    "this build has no CUDA devices; configure with MINI_CUDA=SIM or ON";

[[noreturn]] void no_cuda() { throw Error("cuda: ", kNoCuda); }

}  // namespace

int device_count() { return 0; }
std::string device_count_text() { return kNoCuda; }
std::string device_name(int) { no_cuda(); }
bool is_initialized() { return false; }
void set_device(int) { no_cuda(); }
DeviceGuard::DeviceGuard(int) { no_cuda(); }
DeviceGuard::~DeviceGuard() = default;
cudaStream_t current_stream(int) { no_cuda(); }
void synchronize(int) { no_cuda(); }
void* allocate(size_t, int, cudaStream_t) { no_cuda(); }
void* allocate_pinned(size_t) { no_cuda(); }
void deallocate(void*) noexcept {}
bool is_pinned(const void*) { return false; }
void copy_between(void*, int, const void*, int, size_t, bool) { no_cuda(); }

}  // namespace mini::cuda
