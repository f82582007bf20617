// Helpers for the checks of lab 13: devices, numbers, small modules, and a gate.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/parallel/replicate.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab13 {

using Values = std::vector<float>;
using parallel::DataParallelStats;
using parallel::SharedStats;

constexpr std::chrono::seconds kDeadline(10);  // only wrong code waits so long

inline SharedStats new_stats() { return std::make_shared<DataParallelStats>(); }

/// Returns `count` devices: cpu, cpu:1, ...
inline std::vector<Device> devices_of(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(Device::cpu(i));
    return devices;
}

/// Returns a tensor with the values first, first + 1, ...
inline Tensor counting(const Shape& shape, float first = 0,
                       Device device = Device::cpu()) {
    Values values(static_cast<size_t>(element_count(shape)));
    std::iota(values.begin(), values.end(), first);
    Tensor result = Tensor::empty(shape, DType::kFloat32, device);
    ops::copy_(result, Tensor::from(values, shape));
    return result;
}

inline Values values_of(const Tensor& x) { return x.to_vector<float>(); }

/// A gate that one thread opens and another thread waits for.
class Gate {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

    /// Blocks until the gate is open. Throws Error if it is still shut after kDeadline.
    void wait(const char* what_is_missing) {
        std::unique_lock lock(mutex_);
        MINI_CHECK(changed_.wait_for(lock, kDeadline, [this] { return is_open_; }),
                   "waited in vain: ", what_is_missing);
    }

    bool is_open() {
        const std::lock_guard lock(mutex_);
        return is_open_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

/// y = x w, with w (2, 1) = 2, 3. Each call adds the first number of x to the buffer
/// `seen`, and 1 to `batches`.
class Weighted : public nn::Module {
  public:
    Weighted() {
        w = register_parameter("w", Tensor::from<float>({2, 3}, {2, 1}));
        frozen = register_parameter("frozen", Tensor::from<float>({5}, {1}));
        frozen.set_requires_grad(false);
        seen = register_buffer("seen", Tensor::zeros({1}));
        batches = register_buffer("batches", Tensor::zeros({1}, DType::kInt64));
    }
    Tensor forward(const Tensor& x) override {
        ops::add_(seen, Tensor::full({1}, x.to_vector<float>().front()));
        ops::increment_(batches);
        return matmul(x, w);
    }

    Tensor w, frozen, seen, batches;
};

}  // namespace mini::lab13
