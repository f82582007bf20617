// Lane: the worker thread of one device. This file has all device-specific code of
// DataParallel: which devices exist, which thread runs their work, and how tensors are
// copied from one device to another.
//
// The lane of a GPU launches that GPU's kernels, and copy_between copies over the bus. A
// CPU device, Device::cpu(i), has only the lane: all CPU devices share one memory.
// Nevertheless copy_between copies tensors from one CPU device to another, so that
// measurements and tests make the same copies as with several GPUs.

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

/// Returns the devices that DataParallel uses by default for a module on a device of this
/// type: all GPUs, or one CPU device per processor.
std::vector<Device> available_devices(Device::Type type);

/// Returns whether the device exists on this machine.
bool has_lanes(Device device);

/// Returns a copy of x on device `to`; x itself when `from` equals `to`. The caller
/// passes `from`, since a tensor does not record which CPU lane computed it.
/// Not recorded by autograd.
Tensor copy_between(const Tensor& x, Device from, Device to);

/// A thread that runs jobs one after another, in the order in which they were posted. On
/// the thread of a GPU, new tensors are by default on that GPU, and kernels run in the
/// default stream.
class Lane {
  public:
    explicit Lane(Device device);

    /// Finishes the posted jobs and joins the thread. REQUIRES: the caller is not this
    /// lane's thread.
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    Device device() const { return device_; }

    /// Adds a job to the queue and returns immediately; the future receives the job's
    /// exception. The job runs with the logging::rank() of the calling thread, so that
    /// its log messages carry that rank. Any thread may call post().
    std::future<void> post(std::function<void()> job);

  private:
    /// Runs on the lane's thread: repeatedly takes the oldest job and runs it, until
    /// stopping_ is set and no job is left. Sleeps while there is no job. Does not hold
    /// mutex_ while a job runs, so that any thread, and the job itself, can post jobs
    /// meanwhile.
    void work();

    Device device_;
    std::mutex mutex_;                             // for jobs_ and stopping_
    std::condition_variable changed_;              // jobs_ or stopping_ has changed
    std::deque<std::packaged_task<void()>> jobs_;  // the oldest first
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace mini::parallel
