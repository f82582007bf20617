// CollectiveQueue without its communication thread: what a caller that waits runs itself.

#include "libmini/distributed/group/collective_queue.hpp"

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "libmini/distributed/group/task.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;

namespace {

// Records what it ran, and on which thread.
class Recorder : public CollectiveQueue::Runner {
  public:
    void run(const TaskHandle& task) override {
        ran.push_back(task);
        threads.push_back(std::this_thread::get_id());
    }
    bool has_more() const override {
        ++asked;
        return in_flight;
    }
    void wake() override {}

    std::vector<TaskHandle> ran;
    std::vector<std::thread::id> threads;
    bool in_flight = false;
    mutable int asked = 0;
};

TaskHandle barrier() {
    return std::make_shared<Task>(Call{.operation = Operation::kBarrier}, Collective{},
                                  Way::kHost);
}

std::vector<TaskHandle> push_three(CollectiveQueue& queue) {
    std::vector<TaskHandle> tasks = {barrier(), barrier(), barrier()};
    const std::lock_guard lock(queue.mutex());
    for (const TaskHandle& task : tasks) queue.push(task, false);
    return tasks;
}

}  // namespace

TEST_CASE("a caller that waits runs the queue up to its collective, in call order") {
    Recorder recorder;
    CollectiveQueue queue(recorder);
    const auto tasks = push_three(queue);
    queue.help(*tasks[1]);
    CHECK(recorder.ran == std::vector<TaskHandle>{tasks[0], tasks[1]});
    CHECK(recorder.threads ==
          std::vector<std::thread::id>(2, std::this_thread::get_id()));
    queue.help(*tasks[1]);
    CHECK(recorder.ran.size() == 2);
    queue.help(*tasks[2]);
    CHECK(recorder.ran == tasks);
}

TEST_CASE("a caller leaves the queue alone while an operation is in flight outside") {
    Recorder recorder;
    CollectiveQueue queue(recorder);
    const auto tasks = push_three(queue);
    recorder.in_flight = true;
    queue.help(*tasks[0]);
    CHECK(recorder.ran.empty());
    recorder.in_flight = false;
    queue.help(*tasks[0]);
    CHECK(recorder.ran == std::vector<TaskHandle>{tasks[0]});
}

TEST_CASE("a caller whose collective left the queue does not call the owner") {
    Recorder recorder;
    CollectiveQueue queue(recorder);
    const auto tasks = push_three(queue);
    {
        const std::lock_guard lock(queue.mutex());
        CHECK(queue.take_all().size() == 3);
    }
    recorder.asked = 0;
    queue.help(*tasks[0]);
    CHECK(recorder.asked == 0);
    CHECK(recorder.ran.empty());
}
