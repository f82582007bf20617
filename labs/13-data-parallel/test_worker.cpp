// The checks of lab 13, tasks 13.3 and 13.4: Worker, a device's thread, and parallel_apply.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "labs/13-data-parallel/test_support.hpp"
#include "libmini/core/log.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::lab13;
using parallel::Worker;
using test::message_of;

namespace {

// Waits for a job; fails if the job has not run within the deadline.
void wait_for(std::future<void>& job, const char* what_is_missing) {
    INFO("waited in vain: " << what_is_missing);
    REQUIRE(job.wait_for(kDeadline) == std::future_status::ready);
}

// Lets other threads run. Many turns, because a mistake shows only if they run meanwhile;
// on a busy machine, where one turn may take milliseconds, 0.3 seconds.
void give_way(const std::function<bool()>& is_over = [] { return false; }) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    for (int turn = 0; turn < 20000 && !is_over(); ++turn) {
        if (std::chrono::steady_clock::now() > end) return;
        std::this_thread::yield();
    }
}

// Returns workers for `count` devices; device 0 has none, its jobs run on this thread.
parallel::Workers workers_of(int count) {
    parallel::Workers workers(1);
    for (int i = 1; i < count; ++i)
        workers.push_back(std::make_unique<Worker>(Device::cpu(i)));
    return workers;
}

// A module that calls a function.
class Calls : public nn::Module {
  public:
    explicit Calls(std::function<Tensor(const Tensor&)> function)
        : function_(std::move(function)) {}
    Tensor forward(const Tensor& x) override { return function_(x); }

  private:
    std::function<Tensor(const Tensor&)> function_;
};

// Three modules that call function(index, x), for parallel_apply on three devices.
class Three {
  public:
    explicit Three(const std::function<Tensor(size_t, const Tensor&)>& function) {
        for (size_t i = 0; i < 3; ++i)
            owned_.push_back(std::make_unique<Calls>(
                [function, i](const Tensor& x) { return function(i, x); }));
    }
    std::vector<Tensor> apply(size_t chunks = 3) {
        std::vector<nn::Module*> modules;
        for (const auto& module : owned_) modules.push_back(module.get());
        std::vector<Tensor> inputs;
        for (size_t i = 0; i < chunks; ++i)
            inputs.push_back(counting({2}, 10 * static_cast<float>(i),
                                      Device::cpu(static_cast<int>(i))));
        return parallel::parallel_apply(workers_, modules, inputs);
    }

  private:
    parallel::Workers workers_ = workers_of(3);
    std::vector<std::unique_ptr<nn::Module>> owned_;
};

}  // namespace

// ---- 13.3

TEST_CASE("a worker runs its jobs in order on one thread of its own",
          "[lab13][lab13.3]") {
    std::vector<int> order;
    std::vector<std::thread::id> threads;
    {
        Worker worker(Device::cpu(1));
        for (int i = 0; i < 20; ++i)
            worker.post([&, i] {
                order.push_back(i);
                threads.push_back(std::this_thread::get_id());
            });
    }
    INFO("20 jobs were posted, and the worker was destroyed: it runs them first");
    REQUIRE(order.size() == 20);
    for (size_t i = 0; i < order.size(); ++i) {
        INFO("the oldest job is the first; hint 2 of 13.3");
        CHECK(order[i] == static_cast<int>(i));
        CHECK(threads[i] == threads[0]);
        CHECK(threads[i] != std::this_thread::get_id());
    }
}

TEST_CASE("post does not wait for the job, and wakes a worker that sleeps",
          "[lab13][lab13.3]") {
    Worker worker(Device::cpu(1));
    for (int round = 0; round < 3; ++round) {
        Gate gate;
        auto job =
            worker.post([&] { gate.wait("post did not return before the job ran"); });
        gate.open();
        wait_for(job, "the job never ran: does post wake the thread? hint 2 of 13.3");
        CHECK_NOTHROW(job.get());
    }
}

TEST_CASE("jobs can be posted while a job runs", "[lab13][lab13.3]") {
    Worker worker(Device::cpu(1));
    Gate started, posted;
    auto first = worker.post([&] {
        started.open();
        posted.wait(
            "post waits for the job that runs: give the lock back before you "
            "run a job; hint 1 of 13.3");
    });
    started.wait("the first job never ran");
    auto second = worker.post([] {});
    posted.open();
    wait_for(first, "the first job never ended");
    CHECK_NOTHROW(first.get());
    wait_for(second, "the second job never ran");
}

TEST_CASE("a job can post the next job", "[lab13][lab13.3]") {
    std::vector<int> order;
    {
        Worker worker(Device::cpu(1));
        worker
            .post([&] {
                worker.post([&] { order.push_back(2); });
                order.push_back(1);
            })
            .wait();
    }
    INFO("the job posted another one; hint 1 of 13.3");
    CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("a job's exception goes to its future, and the worker goes on",
          "[lab13][lab13.3]") {
    Worker worker(Device::cpu(1));
    auto fails = worker.post([] { throw Error("the job failed"); });
    bool next_ran = false;
    auto next = worker.post([&] { next_ran = true; });
    wait_for(next, "the job after the one that failed");
    CHECK(message_of([&] { fails.get(); }) == "the job failed");
    CHECK_NOTHROW(next.get());
    CHECK(next_ran);
}

TEST_CASE("a job runs with the rank that its poster had when it posted",
          "[lab13][lab13.3]") {
    Worker worker(Device::cpu(1));
    Gate gate;
    std::vector<int> ranks;
    const auto tell = [&] { ranks.push_back(logging::rank()); };
    logging::set_rank(0);
    worker.post([&] { gate.wait("the test opens the gate"); });
    logging::set_rank(3);
    worker.post(tell);
    logging::set_rank(4);
    auto last = worker.post(tell);
    logging::set_rank(-1);
    gate.open();
    wait_for(last, "the last job");
    INFO(
        "two jobs were posted with rank 3 and rank 4, and the poster then changed its "
        "rank to -1 before they ran: read the rank in post, set it in the job");
    CHECK(ranks == std::vector<int>{3, 4});
}

TEST_CASE("a worker finishes its posted jobs before its thread ends",
          "[lab13][lab13.3]") {
    std::atomic<int> done = 0;
    {
        Gate leaving;
        auto worker = std::make_unique<Worker>(Device::cpu(1));
        worker->post([&] {
            leaving.wait("the test opens the gate");
            give_way();
            ++done;
        });
        for (int i = 0; i < 4; ++i) worker->post([&] { ++done; });
        leaving.open();
        worker.reset();  // sets stopping_ while the first job runs
    }
    INFO(
        "the worker was told to stop with jobs in its queue: it ends when stopping_ is "
        "set and no job is left; hint 3 of 13.3");
    CHECK(done == 5);
}

// ---- 13.4

TEST_CASE("parallel_apply gives each chunk to its own module, on its own device",
          "[lab13][lab13.4]") {
    const size_t chunks = GENERATE(1, 2, 3);
    std::vector<Device> devices(3, Device::cpu(9));
    std::vector<Gate> ended(3);
    Three three([&](size_t i, const Tensor& x) {
        devices[i] = default_device();
        if (i + 1 < chunks) ended[i + 1].wait("the modules run at the same time");
        ended[i].open();
        return mul(x, Tensor::full({1}, static_cast<float>(i + 1)));
    });
    const auto outputs = three.apply(chunks);
    REQUIRE(outputs.size() == chunks);
    for (size_t i = 0; i < chunks; ++i) {
        INFO("module " << i << " multiplies chunk " << i << " by " << i + 1
                       << ", and ends before module " << i - 1
                       << "; it runs on the thread of "
                       << Device::cpu(static_cast<int>(i)));
        const auto first = 10 * static_cast<float>(i);
        const auto factor = static_cast<float>(i + 1);
        CHECK(values_of(outputs[i]) == Values{first * factor, (first + 1) * factor});
        CHECK(devices[i] == Device::cpu(static_cast<int>(i)));
    }
}

TEST_CASE("parallel_apply runs all modules at the same time", "[lab13][lab13.4]") {
    std::vector<Gate> started(3);
    Three three([&](size_t i, const Tensor& x) {
        started[i].open();
        for (Gate& gate : started)
            gate.wait(
                "another module starts only when this one has ended: post all "
                "jobs before you wait for one; hint 1 of 13.4");
        return x;
    });
    CHECK_NOTHROW(three.apply());
}

TEST_CASE("parallel_apply throws the error of the first module that failed",
          "[lab13][lab13.4]") {
    Gate last_failed;
    std::vector<bool> fails{false, true, true};
    Three three([&](size_t i, const Tensor& x) {
        if (i == 1 && fails[2]) last_failed.wait("module 2 runs beside module 1");
        if (i == 2) last_failed.open();
        check_shape(!(i == 1 && fails[1]), "chunk 1 is wrong");
        MINI_CHECK(!fails[i], "chunk ", i, " failed");
        return x;
    });
    INFO(
        "module 2 fails first in time, but module 1 is first in order; finish() adds "
        "where it was; hint 2 of 13.4");
    CHECK(message_of<ShapeError>([&] { three.apply(); }) ==
          "Caught ShapeError in replica 1 on device cpu:1. chunk 1 is wrong");
    fails = {false, false, true};
    CHECK(message_of([&] { three.apply(); }) ==
          "Caught Error in replica 2 on device cpu:2. chunk 2 failed");
    fails = {true, false, false};
    CHECK(message_of([&] { three.apply(); }) ==
          "Caught Error in replica 0 on device cpu. chunk 0 failed");
    INFO("after an error the workers are usable");
    fails = {false, false, false};
    CHECK(three.apply().size() == 3);
}

TEST_CASE("parallel_apply waits for all modules before it throws", "[lab13][lab13.4]") {
    Gate failed, caught;
    std::atomic<bool> ended = false;
    {
        Three three([&](size_t i, const Tensor& x) {
            if (i == 0) {
                failed.open();
                throw Error("module 0 failed");
            }
            if (i == 2) {
                failed.wait("module 0 runs beside module 2");
                give_way([&] { return caught.is_open(); });
                ended = !caught.is_open();
            }
            return x;
        });
        CHECK(message_of([&] { three.apply(); }) ==
              "Caught Error in replica 0 on device cpu. module 0 failed");
        caught.open();
    }
    INFO(
        "module 0 failed while module 2 was running. If the error leaves "
        "parallel_apply then, module 2 uses chunks and outputs that are destroyed; "
        "hint 1 of 13.4");
    CHECK(ended);
}

TEST_CASE("the grad mode of the caller holds on every worker", "[lab13][lab13.4]") {
    std::vector<int> enabled(3);
    Three three([&](size_t i, const Tensor& x) {
        enabled[i] = is_grad_enabled() ? 1 : 0;
        return x;
    });
    for (int round = 0; round < 2; ++round) {
        three.apply();
        INFO("the caller records a graph; round " << round
                                                  << " (an earlier round without grad "
                                                     "must leave nothing behind)");
        CHECK(enabled == std::vector<int>{1, 1, 1});
        const NoGradGuard no_grad;
        three.apply();
        INFO(
            "the caller has a NoGradGuard, which disables recording on its own thread "
            "only; hint 2 of 13.4");
        CHECK(enabled == std::vector<int>{0, 0, 0});
    }
}
