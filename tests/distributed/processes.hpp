// Ranks as processes: starts, kills and stops processes, and returns their reports.
//
// The parent only forks and waits: it has no threads, so that fork is safe.

#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"

namespace mini::dist::test {

/// Joins a group of backend `kind`, with this process as one rank. `port`: the port of
/// rank 0's store.
inline std::shared_ptr<ProcessGroup> join_group(const std::string& kind, int rank,
                                                int world_size, int port,
                                                milliseconds timeout = kLong,
                                                bool verify = true) {
    return init_process_group({.backend = kind,
                               .init_method = concat("tcp://127.0.0.1:", port),
                               .rank = rank,
                               .world_size = world_size,
                               .timeout = timeout,
                               .verify = verify});
}

/// The ranks of one test. The destructor kills and reaps the ranks that still run.
class Processes {
  public:
    Processes() = default;
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    ~Processes() {
        for (const Child& child : children_) {
            ::close(child.reading_end);
            if (child.process < 0) continue;
            ::kill(child.process, SIGKILL);
            ::waitpid(child.process, nullptr, 0);
        }
    }

    /// Starts one process per rank, which calls body(rank, port) and reports its
    /// exception.
    void start(int world_size, const std::function<void(int rank, int port)>& body) {
        const int port = free_port();
        for (int rank = 0; rank < world_size; ++rank) {
            int ends[2];
            MINI_CHECK(::pipe(ends) == 0, "no pipe");
            const pid_t process = ::fork();
            if (process == 0) {
                // A crash must end the child: reset the signal handlers of the test
                // program.
                for (const int crash : {SIGSEGV, SIGABRT, SIGTERM})
                    ::signal(crash, SIG_DFL);
                const std::string text = failure_of([&] { body(rank, port); });
                const ssize_t n = ::write(ends[1], text.data(), text.size());
                ::_exit(n < 0 ? 1 : 0);
            }
            ::close(ends[1]);
            children_.push_back({process, ends[0]});
        }
    }

    void kill(int rank, int signal) const {
        ::kill(children_[static_cast<size_t>(rank)].process, signal);
    }

    /// Blocks until the rank has ended. Returns the text of its exception and, if a
    /// signal ended its process, the signal.
    std::string report(int rank) {
        Child& child = children_[static_cast<size_t>(rank)];
        std::string text;
        char buffer[1024];
        ssize_t n = 0;
        while ((n = ::read(child.reading_end, buffer, sizeof buffer)) > 0)
            text.append(buffer, static_cast<size_t>(n));
        int status = 0;
        ::waitpid(std::exchange(child.process, -1), &status, 0);
        if (WIFSIGNALED(status)) text += concat("ended by signal ", WTERMSIG(status));
        return text;
    }

  private:
    struct Child {
        pid_t process = -1;
        int reading_end = -1;
    };
    std::vector<Child> children_;
};

/// Signals an event from one process to another: await() blocks until give() is called.
class Signal {
  public:
    Signal() { MINI_CHECK(::pipe(ends_) == 0, "no pipe"); }
    ~Signal() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void give() const { MINI_CHECK(::write(ends_[1], "x", 1) == 1, "no process reads"); }
    void await() const {
        char byte = 0;
        MINI_CHECK(::read(ends_[0], &byte, 1) == 1, "no process wrote");
    }

  private:
    int ends_[2] = {-1, -1};
};

}  // namespace mini::dist::test
