#include "tests/faults/watching.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/distributed/support.hpp"

namespace mini::dist::faults {

pid_t start_process(const std::function<void()>& body) {
    const pid_t process = ::fork();
    MINI_CHECK(process >= 0, system_message("fork", errno));
    if (process > 0) return process;
    const std::string text = test::failure_of(body);
    if (!text.empty() && ::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(2);
    ::_exit(text.empty() ? 0 : 1);
}

void wait_for_a_child(Deadline deadline) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int left = milliseconds_left(deadline);
    const timespec time{left / 1000, left % 1000 * 1'000'000L};
    ::sigtimedwait(&child, nullptr, &time);
}

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

}  // namespace mini::dist::faults
