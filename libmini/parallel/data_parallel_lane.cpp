#include "libmini/parallel/data_parallel_lane.hpp"

#include <algorithm>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

std::vector<Device> available_devices(Device::Type type) {
    const bool is_cpu = type == Device::Type::kCPU;
    const int processors =
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int count = is_cpu ? processors : cuda_device_count();
    std::vector<Device> devices;
    for (int index = 0; index < count; ++index) devices.push_back({type, index});
    return devices;
}

bool has_lanes(Device device) {
    return device.index >= 0 && (device.is_cpu() || device.index < cuda_device_count());
}

Tensor copy_between(const Tensor& x, Device from, Device to) {
    if (from == to) return x;
    Tensor copy = Tensor::empty(x.shape(), x.dtype(), to);
    ops::copy_(copy, x.detach());
    return copy;
}

Lane::Lane(Device device) : device_(device), thread_([this] { work(); }) {}

Lane::~Lane() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

std::future<void> Lane::post(std::function<void()> job) {
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

void Lane::work() {
    set_default_device(device_);
    // [lab13.3] Run one job after another, until the lane stops and no job is left.
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

}  // namespace mini::parallel
