#include "libmini/parallel/device_worker.hpp"

#include <exception>
#include <string>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

std::string caught(const char* type, size_t replica, Device device,
                   const std::exception& error) {
    return concat("Caught ", type, " in replica ", replica, " on device ", device, ". ",
                  error.what());
}

}  // namespace

Tensor copy_between(const Tensor& x, Device from, Device to) {
    if (from == to) return x;
    Tensor copy = Tensor::empty(x.shape(), x.dtype(), to);
    ops::copy_(copy, x.detach());
    return copy;
}

Worker::Worker(Device device) : device_(device), thread_([this] { work(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

std::future<void> Worker::post(std::function<void()> job) {
    // [lab13.3] Queue the job with the caller's rank, and wake the thread.
    std::packaged_task<void()> task([job = std::move(job), rank = logging::rank()] {
        logging::set_rank(rank);
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    changed_.notify_one();
    return done;
    // [lab13.3]
}

void Worker::work() {
    set_default_device(device_);
    // [lab13.3] Run one job after another, until the worker stops and no job is left.
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        std::packaged_task<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
    // [lab13.3]
}

std::future<void> start(const std::unique_ptr<Worker>& worker,
                        std::function<void()> job) {
    if (worker != nullptr) return worker->post(std::move(job));
    std::packaged_task<void()> task(std::move(job));
    task();
    return task.get_future();
}

void finish(std::future<void>& job, size_t replica, Device device) {
    try {
        job.get();
    } catch (const ShapeError& error) {
        throw ShapeError(caught("ShapeError", replica, device, error));
    } catch (const UsageError& error) {
        throw UsageError(caught("UsageError", replica, device, error));
    } catch (const Error& error) {
        throw Error(caught("Error", replica, device, error));
    } catch (const std::exception& error) {
        throw Error(caught("exception", replica, device, error));
    }
}

}  // namespace mini::parallel
