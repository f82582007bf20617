// Worker: the thread of one device, for DataParallel. PyTorch's parallel_apply starts
// such a thread for each replica in every step; here the threads stay.
//
// The worker of a GPU launches the GPU's kernels. All CPU devices, Device::cpu(i), share
// one memory, but copy_between copies between them as between several GPUs.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Returns a copy of x on device `to`; x itself when `from` equals `to`. The caller
/// passes `from`, since a result on the CPU does not record which CPU device computed it.
/// Not recorded by autograd.
Tensor copy_between(const Tensor& x, Device from, Device to);

/// A thread that runs jobs one after another, in the order in which they were posted. On
/// this thread new tensors are by default on the worker's device.
class Worker {
  public:
    explicit Worker(Device device);

    /// Finishes the posted jobs and joins the thread. REQUIRES: the caller is not this
    /// worker's thread.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Adds a job to the queue and returns immediately; the future receives the job's
    /// exception. The job runs with the logging::rank() of the calling thread, so that
    /// its log messages carry that rank. Any thread may call post().
    std::future<void> post(std::function<void()> job);

  private:
    /// Runs on the worker's thread: repeatedly takes the oldest job and runs it, until
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

/// One worker per device; null for device 0, whose jobs run on the calling thread.
using Workers = std::vector<std::unique_ptr<Worker>>;

/// Posts `job` to `worker`, or runs `job` here if `worker` is null. In both cases the
/// future receives the job's exception.
std::future<void> start(const std::unique_ptr<Worker>& worker, std::function<void()> job);

/// Waits for `job` and rethrows its exception, with the message prefixed by "Caught Error
/// in replica 1 on device cpu:1. ". ShapeError and UsageError keep their type; all other
/// exceptions become Error.
void finish(std::future<void>& job, size_t replica, Device device);

}  // namespace mini::parallel
