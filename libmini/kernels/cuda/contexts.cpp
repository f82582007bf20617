#include "libmini/kernels/cuda/contexts.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <bit>
#include <cstdint>

#include "libmini/kernels/cuda/errors.hpp"
#include "libmini/kernels/gpu.hpp"

namespace mini::cuda {
namespace {

std::atomic<uint64_t> opened = 0;  // one bit per device
std::atomic<bool> initialized = false;

thread_local int postponed_device = -1;  // the target of a postponed switch, or -1

// Returns 0 for device 64 and above, which never count as open.
uint64_t bit_of(int device) {
    return device >= 0 && device < 64 ? uint64_t{1} << device : 0;
}

bool is_open(int device) { return (opened & bit_of(device)) != 0; }

}  // namespace

int current_device() {
    if (postponed_device >= 0) return postponed_device;
    note_initialized();
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

int exchange_device(int device) {
    const int before = current_device();
    if (postponed_device >= 0 || before != device) {
        check(cudaSetDevice(device), "cudaSetDevice");
        postponed_device = -1;
    }
    if (!is_open(device)) opened |= bit_of(device);
    return before;
}

void set_device(int device) { exchange_device(device); }

void return_to_device(int device) noexcept {
    if (is_open(device)) {
        cudaSetDevice(device);
        postponed_device = -1;
    } else {
        postponed_device = device;
    }
}

int open_device() {
    const int mine = current_device();
    const uint64_t all = opened;
    return all == 0 || is_open(mine) ? mine : std::countr_zero(all);
}

bool is_initialized() { return initialized; }
void note_initialized() { initialized = true; }

}  // namespace mini::cuda
