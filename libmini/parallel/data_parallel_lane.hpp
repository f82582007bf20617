// Lane: the thread that works for one device. All that DataParallel knows of devices is
// here: which there are, which thread runs their work, and how tensors are copied from
// one to another.
//
// A lane of a GPU launches that device's kernels, and copy_between copies by way of the
// bus. A lane of the CPU, Device::cpu(i), is a thread over the memory that all lanes
// share. Numbers are copied from lane to lane nevertheless, so that what is measured and
// tested is what several GPUs do.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// The devices that DataParallel uses unless told otherwise: all GPUs for a module on a
/// GPU, else a lane of the CPU for each processor.
std::vector<Device> available_devices(Device::Type type);

/// Whether there is such a device here.
bool has_lanes(Device device);

/// x as a new tensor on device `to`; x itself when it is there already. `from` is said
/// by the caller, since what a lane of the CPU computes does not carry its number. No
/// autograd.
Tensor copy_between(const Tensor& x, Device from, Device to);

/// A thread that does one job after the other. That of a GPU makes its tensors there, and
/// gives its work to the default streams.
class Lane {
  public:
    explicit Lane(Device device);

    /// Finishes the jobs posted and joins the thread. REQUIRES: not called on this lane.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    Device device() const { return device_; }

    /// Hands a job over and returns at once; the future gets what it throws. The job's
    /// messages carry the rank of the calling thread.
    std::future<void> post(std::function<void()> job);

  private:
    void work();

    Device device_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::packaged_task<void()>> jobs_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mini::parallel
