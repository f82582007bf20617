// Lane: the thread that works for one device. All that DataParallel knows of devices is
// here: which there are, who runs their work, and how numbers get from one to another.
//
// A device is a lane of the CPU as yet, Device::cpu(i): a thread over the memory that
// all lanes share. Numbers are copied from lane to lane nevertheless, so that what is
// measured and tested is what several GPUs would do; with these, a lane launches kernels
// on its device, and copy_between copies by way of the bus.

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

/// The devices that DataParallel uses unless told otherwise: a lane for each processor.
std::vector<Device> available_devices();

/// Whether this build can make lanes for `device`.
bool has_lanes(Device device);

/// x as a new tensor on device `to`; x itself when it is there already. `from` is said
/// by the caller, since what a lane of the CPU computes does not carry its number. No
/// autograd.
Tensor copy_between(const Tensor& x, Device from, Device to);

/// A thread that does one job after the other.
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
