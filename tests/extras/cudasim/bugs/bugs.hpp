// Kernels with one bug each, and their correct versions. The source lines of a bug end
// with the marker  // BUG name.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace mini::bugs {

/// Runs a kernel on small inputs: the version with the bug if `wrong`, else the correct
/// version.
using Run = void (*)(bool wrong);

// shared.cu
void missing_barrier(bool wrong);
void reduction_race(bool wrong);
void double_buffer(bool wrong);
void tile_reuse(bool wrong);
void small_array(bool wrong);
void small_dynamic(bool wrong);
void unset_accumulator(bool wrong);

// limits.cu: the wrong versions throw CudaError
void large_static(bool wrong);
void large_dynamic(bool wrong);

// memory.cu
void guard_off_by_one(bool wrong);
void wrong_stride(bool wrong);
void negative_halo(bool wrong);
void use_after_free(bool wrong);
void host_pointer(bool wrong);
void null_pointer(bool wrong);
void wrong_device(bool wrong);
void misaligned_vector(bool wrong);
void unset_output(bool wrong);
void device_pointer_on_host(bool wrong);

// threads.cu
void divergent_barrier(bool wrong);
void early_return(bool wrong);
void shuffle_mask(bool wrong);
void ended_lane(bool wrong);
void absent_lane(bool wrong);
void missing_syncwarp(bool wrong);
void histogram(bool wrong);
void neighbour_blocks(bool wrong);
void last_block(bool wrong);
void same_value(bool wrong);  // no mistake, but a note
void different_values(bool wrong);
void read_beside_write(bool wrong);
void block_votes(bool wrong);

// order.cu
void middle_reader(bool wrong);
void middle_reader_of_warp(bool wrong);
void write_after_fence(bool wrong);
void fence_without_barrier(bool wrong);
void block_lock(bool wrong);
void device_lock(bool wrong);
void wait_for_block(bool wrong);
void wait_for_higher_block(bool wrong);

/// n floats on the current device; 1 if `set`, else uninitialised.
class Floats {
  public:
    explicit Floats(size_t n, bool set = true) : n_(n) {
        cudaMalloc(&data_, n * sizeof(float));
        const std::vector<float> ones(n, 1.0f);
        if (set)
            cudaMemcpy(data_, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    ~Floats() { cudaFree(data_); }
    Floats(const Floats&) = delete;
    Floats& operator=(const Floats&) = delete;

    float* get() const { return data_; }
    size_t bytes() const { return n_ * sizeof(float); }

  private:
    float* data_ = nullptr;
    size_t n_;
};

}  // namespace mini::bugs
