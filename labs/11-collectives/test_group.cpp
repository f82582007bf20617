// The checks of lab 11, task 11.6: the group with one queue and one thread.

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "labs/11-collectives/simple_group.hpp"
#include "labs/11-collectives/test_support.hpp"
#include "labs/11-collectives/thread_transport.hpp"

using namespace mini;
using namespace mini::lab11;

namespace {

// Runs `body` with the group of a world of one rank.
void alone(const std::function<void(simple::Group&)>& body) {
    Mail mail;
    ThreadTransport transport(mail, 0, 1);
    simple::Group group(transport);
    body(group);
}

// Returns the message of the Error that wait() throws, or "" if wait() returns.
std::string error_of(const simple::WorkHandle& work) {
    try {
        work->wait();
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// Blocks until the thread sleeps, and returns true. Returns false if it has ended, or after
// 20,000 checks, as it may never sleep.
bool wait_until_asleep(pid_t thread) {
    const std::string path = concat("/proc/self/task/", thread, "/stat");
    for (int look = 0; look < 20'000; ++look) {
        std::string id, name, state;
        std::ifstream(path) >> id >> name >> state;
        if (state == "S") return true;
        if (state.empty()) return false;
        std::this_thread::yield();
    }
    return false;
}

// Returns how often the thread has gone to sleep.
std::string sleeps_of(pid_t thread) {
    std::ifstream status(concat("/proc/self/task/", thread, "/status"));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("voluntary_ctxt_switches")) return line;
    return "";
}

const simple::Operation kNothing = [](dist::Transport&) {};

}  // namespace

TEST_CASE("all operations run on one thread, which is not the caller's",
          "[lab11][lab11.6]") {
    std::vector<std::thread::id> threads(3);
    alone([&](simple::Group& group) {
        std::vector<simple::WorkHandle> works;
        for (auto& thread : threads)
            works.push_back(group.start(
                [&thread](dist::Transport&) { thread = std::this_thread::get_id(); }));
        for (const auto& work : works) work->wait();
    });
    for (const auto& thread : threads) {
        INFO("start() queues the operation; the group's thread runs it");
        REQUIRE(thread != std::this_thread::get_id());
        REQUIRE(thread == threads.front());
    }
}

TEST_CASE("a Work is completed when its operation has ended", "[lab11][lab11.6]") {
    std::promise<void> gate;
    bool before = true, during = true, after = false;
    alone([&](simple::Group& group) {
        std::promise<void> running;
        const auto work = group.start([&](dist::Transport&) {
            running.set_value();
            gate.get_future().wait_for(kLimit);
        });
        before = work->is_completed();
        running.get_future().wait_for(kLimit);
        during = work->is_completed();
        gate.set_value();
        work->wait();
        after = work->is_completed();
    });
    const auto word = [](bool is_completed) { return is_completed ? "yes" : "no"; };
    INFO(
        "is it completed after start(), while it runs, and after wait()? A yes too "
        "early:");
    INFO("complete() is called before the operation has ended, or is_completed_ is set.");
    INFO("no, no, no: wait() returned before complete() was called");
    const std::string answers =
        concat(word(before), ", ", word(during), ", ", word(after));
    REQUIRE(answers == "no, no, yes");
}

TEST_CASE("operations run in the order of their starts", "[lab11][lab11.6]") {
    std::vector<int> order, wanted;
    alone([&](simple::Group& group) {
        std::vector<simple::WorkHandle> works;
        for (int i = 0; i < 100; ++i) {
            wanted.push_back(i);
            works.push_back(
                group.start([&order, i](dist::Transport&) { order.push_back(i); }));
        }
        for (size_t i = works.size(); i-- > 0;) works[i]->wait();
    });
    INFO("100 operations were started, and waited for in reverse; " << order.size()
                                                                    << " ran");
    REQUIRE(order == wanted);
}

TEST_CASE("start() wakes a thread that sleeps", "[lab11][lab11.6]") {
    std::promise<pid_t> id;
    std::promise<void> ran;
    auto end = ran.get_future();
    bool was_woken = false;
    alone([&](simple::Group& group) {
        group.start([&](dist::Transport&) { id.set_value(::gettid()); })->wait();
        wait_until_asleep(id.get_future().get());  // no operation is left
        group.start([&](dist::Transport&) { ran.set_value(); });
        was_woken = end.wait_for(kLimit) == std::future_status::ready;
    });
    INFO("the thread had no operation left, and slept; the next start() must wake it");
    REQUIRE(was_woken);
}

TEST_CASE("a thread without an operation sleeps until it is woken", "[lab11][lab11.6]") {
    std::promise<pid_t> id;
    bool is_asleep = false;
    int wakes = 0;
    alone([&](simple::Group& group) {
        group.start([&](dist::Transport&) { id.set_value(::gettid()); })->wait();
        const pid_t thread = id.get_future().get();
        is_asleep = wait_until_asleep(thread);
        std::string before = sleeps_of(thread);
        for (int look = 0; look < 2000; ++look) {
            const std::string now = sleeps_of(thread);
            wakes += now != before;
            before = now;
        }
    });
    INFO(
        "a thread that looks at the queue again and again takes a core from the "
        "training");
    REQUIRE(is_asleep);
    REQUIRE(wakes == 0);
}

TEST_CASE("start() does not block while an operation runs", "[lab11][lab11.6]") {
    bool was_started = false;
    alone([&](simple::Group& group) {
        std::promise<void> running, second;
        auto second_started = second.get_future();
        const auto first = group.start([&](dist::Transport&) {
            running.set_value();
            was_started = second_started.wait_for(kLimit) == std::future_status::ready;
        });
        running.get_future().wait();
        const auto work = group.start(kNothing);
        second.set_value();
        first->wait();
        work->wait();
    });
    INFO("a second start() during an operation waited for its end: is the mutex locked");
    INFO("while the operation runs?");
    REQUIRE(was_started);
}

TEST_CASE("the error of an operation reaches each wait for it", "[lab11][lab11.6]") {
    std::vector<std::string> errors;
    bool is_completed = false;
    alone([&](simple::Group& group) {
        const auto good = group.start(kNothing);
        const auto bad =
            group.start([](dist::Transport&) { throw Error("rank 1 is gone"); });
        errors = {error_of(good), error_of(bad), error_of(bad)};
        is_completed = bad->is_completed();
    });
    INFO("the first operation succeeds, the second throws, and is waited for twice");
    REQUIRE(errors == std::vector<std::string>{"", "rank 1 is gone", "rank 1 is gone"});
    REQUIRE(is_completed);
}

TEST_CASE("complete() wakes every thread that waits for its Work", "[lab11][lab11.6]") {
    struct Waiting {
        simple::Work work;
        std::array<std::promise<pid_t>, 2> ids;
        std::array<std::promise<void>, 2> ends;
    };
    // Shared by the threads, which are detached: a thread that is not woken waits
    // forever, so it cannot be joined.
    const auto waiting = std::make_shared<Waiting>();
    std::vector<std::future<void>> ends;
    for (size_t i = 0; i < 2; ++i) {
        ends.push_back(waiting->ends[i].get_future());
        std::thread([waiting, i] {
            try {
                waiting->ids[i].set_value(::gettid());
                waiting->work.wait();
                waiting->ends[i].set_value();
            } catch (...) {
                waiting->ends[i].set_exception(std::current_exception());
            }
        }).detach();
    }
    for (auto& id : waiting->ids) wait_until_asleep(id.get_future().get());
    waiting->work.complete(nullptr);
    int woken = 0;
    for (auto& end : ends)
        if (end.wait_for(kLimit) == std::future_status::ready) {
            end.get();
            ++woken;
        }
    INFO("two threads wait for one Work; notify_one wakes one of them, notify_all both");
    REQUIRE(woken == 2);
}

TEST_CASE("what is not derived from std::exception reaches the wait, too",
          "[lab11][lab11.6]") {
    int caught = 0;
    alone([&](simple::Group& group) {
        const auto work = group.start([](dist::Transport&) { throw 7; });
        try {
            work->wait();
        } catch (int number) {
            caught = number;
        }
    });
    INFO("the operation threw the int 7");
    REQUIRE(caught == 7);
}

TEST_CASE("after an error no later operation runs; each has the same error",
          "[lab11][lab11.6]") {
    int ran = 0;
    std::vector<std::string> errors;
    simple::WorkHandle last;
    alone([&](simple::Group& group) {
        std::vector<simple::WorkHandle> works;
        const auto run = [&ran](dist::Transport&) { ++ran; };
        works.push_back(
            group.start([](dist::Transport&) { throw Error("rank 1 is gone"); }));
        works.push_back(group.start(run));
        for (const auto& work : works) errors.push_back(error_of(work));
        errors.push_back(error_of(group.start(run)));  // started after the error
        last = group.start(run);
    });
    INFO("the other ranks may still be in the operation that failed here: a later one");
    INFO("would receive its messages");
    REQUIRE(ran == 0);
    REQUIRE(errors == std::vector<std::string>(3, "rank 1 is gone"));
    REQUIRE(last->is_completed());
    REQUIRE(error_of(last) == "rank 1 is gone");
}

TEST_CASE("the destructor waits for the operations that were started",
          "[lab11][lab11.6]") {
    std::atomic<int> ran = 0;
    std::vector<simple::WorkHandle> works;
    std::promise<void> leaving;
    alone([&, caller = ::gettid()](simple::Group& group) {
        works.push_back(group.start([&, caller](dist::Transport&) {
            leaving.get_future().wait_for(kLimit);
            wait_until_asleep(caller);  // the caller waits in the destructor
            ++ran;
        }));
        for (int i = 1; i < 20; ++i)
            works.push_back(group.start([&ran](dist::Transport&) { ++ran; }));
        leaving.set_value();
    });
    INFO("20 operations were started; the first one ends when the destructor waits");
    REQUIRE(ran == 20);
    for (const auto& work : works) REQUIRE(work->is_completed());
}

TEST_CASE("the destructor of an idle group ends its thread", "[lab11][lab11.6]") {
    for (int i = 0; i < 20; ++i) alone([](simple::Group&) {});
    alone([](simple::Group& group) { group.start(kNothing)->wait(); });
    SUCCEED();
}

TEST_CASE("several all-reduces and a broadcast are in flight at once",
          "[lab11][lab11.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    constexpr size_t kCalls = 4, kSize = 5;
    std::vector<std::vector<Values>> seen(static_cast<size_t>(ranks));
    on_threads(ranks, [&](simple::Group& group, int rank) {
        auto& mine = seen[static_cast<size_t>(rank)];
        mine.assign(kCalls, integers(kSize)(rank));
        std::vector<simple::WorkHandle> works;
        for (Values& values : mine)
            works.push_back(&values == &mine.back()
                                ? group.broadcast_async(values, ranks - 1)
                                : group.all_reduce_async(values));
        for (const auto& work : works) work->wait();
    });
    for (size_t rank = 0; rank < seen.size(); ++rank)
        for (size_t call = 0; call < kCalls; ++call) {
            INFO("call " << call << " on rank " << rank << " of " << ranks);
            REQUIRE(seen[rank][call] == (call + 1 < kCalls ? sum_of_integers(ranks, kSize)
                                                           : integers(kSize)(ranks - 1)));
        }
}

TEST_CASE("a rank starts two all-reduces before another rank starts one",
          "[lab11][lab11.6]") {
    std::promise<void> both;
    auto both_started = both.get_future();
    bool was_ahead = false;
    on_threads(2, [&](simple::Group& group, int rank) {
        Values one = integers(5)(rank), two = integers(5)(rank);
        if (rank == 1)
            was_ahead = both_started.wait_for(kLimit) == std::future_status::ready;
        const auto first = group.all_reduce_async(one);
        const auto second = group.all_reduce_async(two);
        if (rank == 0) both.set_value();
        first->wait();
        second->wait();
    });
    INFO("rank 0's starts must return although rank 1 has not called anything yet");
    REQUIRE(was_ahead);
}
