// A bug hunt: a launcher in eighty lines, and two ranks. A reader of rank 0's output has gone, so
// rank 0 gets SIGPIPE (it sends the signal to itself here) and should be ended by it. Rank 1 ends
// by itself.
//
//     lab12_bug_hunt
//
// Exit codes: 0 if SIGPIPE ended rank 0 and the launcher saw the end of both ranks, else 1.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"

using namespace mini;

namespace {

struct Rank {
    const char* script;
    pid_t pid = -1;  // 0: it has ended, and was reaped
    int status = 0;
};

void start(Rank& rank) {
    rank.pid = fork();
    if (rank.pid < 0) throw Error("no process");
    if (rank.pid > 0) return;
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execlp("sh", "sh", "-c", rank.script, nullptr);
    _exit(127);
}

// The launcher has other work, such as starting ranks, and looks at its signals later.
void work_until_ended(const Rank& rank) {
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(rank.pid), &info, WEXITED | WNOWAIT);
}

// Waits for a SIGCHLD, and reaps the rank that has ended. Returns false if no signal comes.
bool reap(std::vector<Rank>& ranks, const sigset_t& child_ends) {
    const timespec second{1, 0};
    if (sigtimedwait(&child_ends, nullptr, &second) < 0) return false;
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    for (Rank& rank : ranks)
        if (rank.pid == pid) rank = {rank.script, 0, status};
    return true;
}

std::string in_words(const Rank& rank) {
    if (rank.pid != 0) return "has ended, and the launcher did not see it   wrong";
    if (WIFSIGNALED(rank.status))
        return fmt::format("ended by signal {}", WTERMSIG(rank.status));
    return fmt::format("exit code {}", WEXITSTATUS(rank.status));
}

}  // namespace

int main() {
    // A closed pipe must not end the launcher, and it reads SIGCHLD when it has time.
    signal(SIGPIPE, SIG_IGN);
    sigset_t child_ends;
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, nullptr);

    std::vector<Rank> ranks = {{"kill -PIPE $$"}, {"exit 0"}};
    for (Rank& rank : ranks) start(rank);
    for (const Rank& rank : ranks) work_until_ended(rank);
    while (ranks[0].pid != 0 || ranks[1].pid != 0)
        if (!reap(ranks, child_ends)) break;

    for (const int number : {0, 1})
        std::cout << fmt::format("rank {}: {}\n", number,
                                 in_words(ranks[static_cast<size_t>(number)]));
    const bool stopped = WIFSIGNALED(ranks[0].status);
    if (!stopped) std::cout << "rank 0 was not ended by SIGPIPE   wrong\n";
    const bool good = stopped && ranks[0].pid == 0 && ranks[1].pid == 0;
    std::cout << (good ? "the launcher is well\n" : "the launcher has a bug\n");
    return good ? 0 : 1;
}
