#include "libmini/extras/simulation/scheduler.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <utility>

#include "libmini/extras/fibers/fiber.hpp"

namespace mini::dist {
namespace {

// The address space of a task's stack. Only touched pages use memory: a rank of an
// all-reduce touches two or three.
constexpr size_t kStackBytes = 256 * 1024;

// Thrown by a wait to end its task. Not derived from std::exception, which the library's
// handlers catch.
struct Unwind {};

// The state of the exceptions that a task is throwing or handling. The C++ runtime has
// one such state per thread, but a task may wait inside a catch block, so each task saves
// its own.
class ExceptionState {
  public:
    void save() { std::memcpy(state_.data(), abi::__cxa_get_globals(), state_.size()); }
    void restore() const {
        std::memcpy(abi::__cxa_get_globals(), state_.data(), state_.size());
    }

  private:
    // __cxa_eh_globals of the Itanium C++ ABI: a pointer and an unsigned int.
    std::array<std::byte, sizeof(void*) + sizeof(unsigned)> state_{};
};

}  // namespace

// A fiber that runs one function. resume() switches to it; suspend() switches back.
class Scheduler::Task {
  public:
    Task(std::function<void()> body, Fiber& thread)
        : body_(std::move(body)),
          thread_(thread),
          fiber_(&Task::main, this, kStackBytes) {}

    /// Runs the function until it waits or returns. REQUIRES: !is_done().
    void resume() {
        scheduler_state_.save();
        state_.restore();
        is_started_ = true;
        thread_.switch_to(fiber_);
        scheduler_state_.restore();
    }

    /// Returns to the caller of resume(). Throws Unwind if the task is being unwound.
    void suspend() {
        if (is_unwinding_) throw Unwind();
        state_.save();
        fiber_.switch_to(thread_);
        if (is_unwinding_) throw Unwind();
    }

    /// Ends the task: its wait throws Unwind, so that the destructors of its local
    /// variables run.
    void unwind() {
        is_unwinding_ = true;
        if (is_started_ && !is_done_) resume();
        is_done_ = true;
    }

    bool is_done() const { return is_done_; }
    std::exception_ptr take_error() { return std::exchange(error_, nullptr); }

    bool is_waiting = false;
    uint64_t wake_count = 0;

  private:
    static void main(void* argument) {
        Task& self = *static_cast<Task*>(argument);
        try {
            self.body_();
        } catch (const Unwind&) {
        } catch (...) {
            self.error_ = std::current_exception();
        }
        self.is_done_ = true;
        self.fiber_.switch_to(self.thread_);
    }

    std::function<void()> body_;
    Fiber& thread_;
    Fiber fiber_;
    ExceptionState state_, scheduler_state_;
    std::exception_ptr error_;
    bool is_started_ = false, is_unwinding_ = false, is_done_ = false;
};

Scheduler::Scheduler(uint64_t seed) : random_(seed), thread_(std::make_unique<Fiber>()) {}

Scheduler::~Scheduler() { unwind(); }

int Scheduler::add_task(int process, std::function<void()> body) {
    tasks_.push_back(std::make_unique<Task>(std::move(body), *thread_));
    const int index = static_cast<int>(tasks_.size()) - 1;
    processes_.push_back(process);
    tasks_of_.resize(std::max(tasks_of_.size(), static_cast<size_t>(process) + 1));
    tasks_of_[static_cast<size_t>(process)].push_back(index);
    ready_.push_back(index);
    return process;
}

bool Scheduler::run() {
    try {
        run_ready();
        while (!is_stopped_ && !are_all_done() && events_.run_next()) run_ready();
    } catch (...) {
        unwind();
        throw;
    }
    return !is_stopped_ && are_all_done();
}

bool Scheduler::are_all_done() const {
    return std::ranges::all_of(tasks_, [](const auto& task) { return task->is_done(); });
}

// Runs ready tasks until no task is ready.
void Scheduler::run_ready() {
    while (!is_stopped_ && !ready_.empty()) {
        std::swap(ready_[random_() % ready_.size()], ready_.back());
        const int next = ready_.back();
        ready_.pop_back();
        run_task(next);
    }
}

void Scheduler::run_task(int task) {
    Task& self = *tasks_[static_cast<size_t>(task)];
    const bool may_run = !before_resume_ || before_resume_(task);
    if (self.is_done() || is_stopped_) return;
    self.is_waiting = !may_run;
    if (!may_run) return;
    current_ = task;
    self.resume();
    current_ = -1;
    if (const auto error = self.take_error()) std::rethrow_exception(error);
}

void Scheduler::unwind() {
    for (size_t i = 0; i < tasks_.size(); ++i) {
        current_ = static_cast<int>(i);
        tasks_[i]->unwind();
    }
    current_ = -1;
    ready_.clear();
    events_.clear();
}

void Scheduler::abandon() {
    tasks_.clear();
    ready_.clear();
    events_.clear();
}

void Scheduler::wait() {
    Task& self = *tasks_[static_cast<size_t>(current_)];
    self.is_waiting = true;
    self.suspend();
}

void Scheduler::wake(int task) {
    Task& sleeper = *tasks_[static_cast<size_t>(task)];
    if (!std::exchange(sleeper.is_waiting, false)) return;
    ++sleeper.wake_count;
    ready_.push_back(task);
}

void Scheduler::wake_process(int process) {
    for (const int task : tasks_of_[static_cast<size_t>(process)]) wake(task);
}

void Scheduler::wake_at(VirtualTime when, int task) {
    constexpr uint64_t kLast = ~uint64_t{0};
    const Task& sleeper = *tasks_[static_cast<size_t>(task)];
    at(when, kLast, [this, task, &sleeper, count = sleeper.wake_count] {
        if (sleeper.wake_count == count) wake(task);
    });
}

void Scheduler::sleep_until(VirtualTime end) {
    while (now() < end) {
        wake_at(end, current_);
        wait();
    }
}

}  // namespace mini::dist
