// Arrays on a device, for tests that compare CUDA kernels with CPU kernels.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {

/// A copy of values on device 0, `skip` elements after an address aligned to 512 bytes.
/// With skip 1, floats are not aligned for accesses of 16 bytes. `guard` elements follow:
/// NaNs, if T is float, so that a result is NaN if a kernel reads past the end.
template <typename T>
class OnDevice {
  public:
    explicit OnDevice(const std::vector<T>& values, size_t skip = 0, size_t guard = 0)
        : size_(values.size()) {
        memory_ = static_cast<T*>(
            mini::cuda::allocate((skip + size_ + guard + 1) * sizeof(T), 0, nullptr));
        data_ = memory_ + skip;
        mini::cuda::set_bytes(data_ + size_, 0xff, guard * sizeof(T), nullptr);
        mini::cuda::copy(data_, values.data(), size_ * sizeof(T), nullptr);
        mini::cuda::synchronize_stream(nullptr);
    }
    ~OnDevice() { mini::cuda::deallocate(memory_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    T* get() const { return data_; }
    operator T*() const { return data_; }

    /// Returns the values; blocks until the default stream is done.
    std::vector<T> read() const {
        std::vector<T> values(size_);
        mini::cuda::copy(values.data(), data_, size_ * sizeof(T), nullptr);
        mini::cuda::synchronize_stream(nullptr);
        return values;
    }

  private:
    size_t size_;
    T *memory_, *data_;
};

/// Returns an output array on the device, filled as by unwritten().
inline OnDevice<float> unwritten_on_device(int64_t n, size_t skip = 0) {
    return OnDevice<float>(unwritten(n), skip);
}

/// An array on the host and its copy on the device: an operand of a kernel of the CPU and
/// of the CUDA kernel that must compute the same.
template <typename T>
struct Both {
    explicit Both(std::vector<T> values, size_t skip = 0)
        : host(std::move(values)), device(host, skip) {}

    /// Returns the device's values; blocks until the default stream is done.
    std::vector<T> read() const { return device.read(); }

    std::vector<T> host;
    OnDevice<T> device;
};

/// Returns the array of a Both, or null for a null pointer to one; other arguments as they
/// are.
template <bool kOnDevice, typename Argument>
auto operand(Argument& argument) {
    if constexpr (requires { argument.device; })
        return kOnDevice ? argument.device.get() : argument.host.data();
    else if constexpr (requires { argument->device; })
        return argument == nullptr ? nullptr : operand<kOnDevice>(*argument);
    else
        return argument;
}

/// Calls a kernel of the CPU with the host's arrays, and the CUDA kernel with the device's.
template <auto kCpu, auto kCuda, typename... Arguments>
void run_both(Arguments&&... arguments) {
    kCpu(operand<false>(arguments)...);
    kCuda(operand<true>(arguments)..., nullptr);
}

constexpr float kUnitRoundoff = 6e-8f;  // 2^-24: the relative error of one rounding

/// Returns the maximum of |a - b| / (1 + |b|) over all elements. An element's error is 0
/// if both values are NaN or the same infinity; otherwise a NaN or an infinity gives an
/// infinite error. Returns infinity if the sizes differ.
inline float max_error(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return kInf;
    float greatest = 0.0f;
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        const float error = std::abs(a[i] - b[i]) / (1.0f + std::abs(b[i]));
        greatest = std::isnan(error) ? kInf : std::max(greatest, error);
    }
    return greatest;
}

}  // namespace mini::kernels
