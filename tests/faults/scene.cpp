#include "tests/faults/scene.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>

#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"
#include "tests/faults/acting.hpp"
#include "tests/faults/board.hpp"

namespace mini::dist::faults {
namespace {

InitOptions options_of(const std::string& group_kind, const Scenario& s, int rank,
                       int port) {
    const bool is_odd = s.kind == Kind::kOtherWorld && rank == s.victim;
    return {.backend = group_kind == "gloo" ? "gloo" : "ring",
            .init_method = concat("tcp://127.0.0.1:", port),
            .rank = rank,
            .world_size = s.world_size + (is_odd ? 1 : 0),
            .timeout = s.timeout,
            .medium = group_kind == "ring-tcp" ? Medium::kTcp : Medium::kAuto};
}

std::vector<pid_t> start_threads(const Scenario& s, Board& board) {
    return {start_process([&] {
        auto groups = make_threads_groups(s.world_size, s.timeout);
        test::on_ranks(s.world_size, [&](int rank) {
            const auto mine = static_cast<size_t>(rank);
            play_rank([&] { return std::move(groups[mine]); }, rank, s, board,
                      Body::kThread);
        });
    })};
}

std::vector<pid_t> start_processes(const std::string& group_kind, const Scenario& s,
                                   Board& board) {
    const int port = test::free_port();
    const bool is_twice = s.kind == Kind::kTwice;
    std::vector<pid_t> processes;
    for (int slot = 0; slot < s.world_size + (is_twice ? 1 : 0); ++slot) {
        if (s.kind == Kind::kAbsent && slot == s.victim) continue;
        const int rank = slot < s.world_size ? slot : s.victim;
        processes.push_back(start_process([&, slot, rank] {
            const auto join = [&] {
                return joined(options_of(group_kind, s, rank, port));
            };
            play_rank(join, slot, s, board, Body::kProcess);
        }));
    }
    return processes;
}

// Blocks until a child exits or stops, at most until the deadline. REQUIRES: SIGCHLD is
// blocked.
void wait_for_a_child(Deadline deadline) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int left = milliseconds_left(deadline);
    const timespec time{left / 1000, left % 1000 * 1'000'000L};
    ::sigtimedwait(&child, nullptr, &time);
}

// Blocks until all processes have ended. Continues a paused process. Kills a process that
// stays stopped, when the other processes have exited. Kills all processes and returns
// false after kPatience.
bool watch(std::vector<pid_t> processes, const Scenario& s) {
    const bool one_is_stopped = s.kind == Kind::kStopped && processes.size() > 1;
    const Deadline deadline = deadline_after(kPatience);
    while (!processes.empty() && !has_passed(deadline)) {
        std::erase_if(processes, [&](pid_t process) {
            int status = 0;
            const pid_t changed = ::waitpid(process, &status, WNOHANG | WUNTRACED);
            if (changed == process && WIFSTOPPED(status) && s.kind == Kind::kPaused) {
                std::this_thread::sleep_for(s.timeout / 2);
                ::kill(process, SIGCONT);
            }
            return changed == process && !WIFSTOPPED(status);
        });
        if (processes.size() == (one_is_stopped ? 1 : 0)) break;
        wait_for_a_child(deadline);
    }
    const bool hung = has_passed(deadline);
    for (const pid_t process : processes) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
    return !hung;
}

// Returns the outcome from the board, after all processes have exited.
Outcome outcome_of(const Board& board, const Scenario& s, bool hung) {
    int64_t first = INT64_MAX, last = 0;
    for (int rank = 0; rank < s.world_size; ++rank) {
        if (rank == s.victim) continue;
        first = std::min<int64_t>(first, board.start_time[rank]);
        last = std::max<int64_t>(last, board.start_time[rank]);
    }
    Outcome outcome;
    outcome.hung = hung;
    for (int rank = 0; rank < s.world_size; ++rank) {
        outcome.texts.emplace_back(board.text[rank]);
        const int64_t error = board.error_time[rank];
        const auto since = [&](int64_t time) {
            return static_cast<double>(error - time) / 1e6;
        };
        outcome.timings.emplace_back();
        if (error > 0)
            outcome.timings.back() = {since(board.fault_time), since(first), since(last)};
    }
    return outcome;
}

}  // namespace

pid_t start_process(const std::function<void()>& body) {
    const pid_t process = ::fork();
    MINI_CHECK(process >= 0, system_message("fork", errno));
    if (process > 0) return process;
    const std::string text = test::failure_of(body);
    if (!text.empty() && ::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(2);
    ::_exit(text.empty() ? 0 : 1);
}

Outcome play(const std::string& group_kind, const Scenario& s) {
    const Shared<Board> board;
    const bool are_threads = group_kind == "threads";
    const bool hung = !watch(
        are_threads ? start_threads(s, *board) : start_processes(group_kind, s, *board),
        s);
    return outcome_of(*board, s, hung);
}

}  // namespace mini::dist::faults
