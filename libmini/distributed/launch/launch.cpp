#include "libmini/distributed/launch/launch.hpp"

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/thread.hpp"
#include "libmini/distributed/backends/threads.hpp"
#include "libmini/distributed/group/current_group.hpp"
#include "libmini/tensor/device.hpp"

namespace mini::dist {
namespace {

// The first failure; the later failures are consequences of the first.
struct FirstFailure {
    void record() {
        std::call_once(once, [this] { failure = std::current_exception(); });
    }

    std::once_flag once;
    std::exception_ptr failure;
};

void run_rank(const std::shared_ptr<QueuedGroup>& group,
              const std::function<void(ProcessGroup& group)>& body, FirstFailure& first) {
    logging::set_rank(group->rank());
    set_default_group(group);
    try {
        body(*group);
        group->shutdown();
    } catch (...) {
        // Record this failure before abandon(), which makes the other ranks fail.
        first.record();
        group->abandon(current_failure().message);
    }
    set_default_group(nullptr);
}

// Returns the default device of `rank`: the CPU if the caller's default device is the
// CPU, else GPU rank % (number of GPUs).
Device device_of(int rank) {
    const Device caller = default_device();
    if (caller.is_cpu()) return caller;
    const int count = cuda_device_count();
    MINI_CHECK(count > 0, "run_threads: the default device is ", caller, ", but ",
               cuda_device_count_text());
    return Device::cuda(rank % count);
}

}  // namespace

void run_threads(int world_size, const std::function<void(ProcessGroup& group)>& body,
                 RunThreadsOptions options) {
    auto groups = make_threads_groups(world_size, options.timeout);
    FirstFailure first;
    std::vector<std::thread> threads;
    threads.reserve(groups.size());
    try {
        for (const auto& group : groups)
            threads.push_back(start_thread([&, group, device = device_of(group->rank())] {
                set_default_device(device);
                run_rank(group, body, first);
            }));
    } catch (...) {
        // Abandon the ranks that have not started, so that the started ranks, which wait
        // for them, fail.
        first.record();
        const std::string reason = current_failure().message;
        for (size_t i = threads.size(); i < groups.size(); ++i)
            groups[i]->abandon(reason);
    }
    for (std::thread& thread : threads) thread.join();
    if (first.failure) std::rethrow_exception(first.failure);
}

}  // namespace mini::dist
