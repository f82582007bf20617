// Lane: the worker thread of one device. This file has all device-specific code of
// DataParallel: which devices exist, which thread runs their work, and how tensors are
// copied from one device to another.
//
// The lane of a GPU launches that device's kernels, and copy_between copies over the bus.
// The lane of a CPU device, Device::cpu(i), is a thread; all CPU lanes share one memory.
// Tensors are copied from lane to lane nevertheless, so that measurements and tests do
// the same copies as several GPUs would.

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

/// The devices that DataParallel uses by default: all GPUs for a module on a GPU,
/// otherwise one CPU lane per processor.
std::vector<Device> available_devices(Device::Type type);

/// Whether the device exists on this machine.
bool has_lanes(Device device);

/// Returns a copy of x on device `to`; x itself when `from` equals `to`. The caller
/// passes `from`, since a tensor computed on a CPU lane does not store the lane's index.
/// Not recorded by autograd.
Tensor copy_between(const Tensor& x, Device from, Device to);

/// A thread that runs jobs one after another, in the order in which they were posted. The
/// thread of a GPU creates its tensors on that GPU, and launches its work on the default
/// streams.
class Lane {
  public:
    explicit Lane(Device device);

    /// Finishes the posted jobs and joins the thread. REQUIRES: not called on this lane.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    Device device() const { return device_; }

    /// Adds a job to the queue and returns immediately; the future receives the job's
    /// exception. The job runs with the logging::rank() of the calling thread, so that
    /// its log messages carry that rank. Any thread may call it.
    std::future<void> post(std::function<void()> job);

  private:
    /// What the thread runs: takes the oldest job and runs it, until stopping_ is set and
    /// no job is left. Does not hold mutex_ while a job runs, so that jobs can be posted
    /// meanwhile, also by the job itself. Without a job the thread sleeps.
    void work();

    Device device_;
    std::mutex mutex_;                             // for jobs_ and stopping_
    std::condition_variable changed_;              // notified when one of them changes
    std::deque<std::packaged_task<void()>> jobs_;  // the oldest first
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mini::parallel
