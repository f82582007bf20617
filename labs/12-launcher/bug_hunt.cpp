// A bug hunt: a launcher in a hundred lines, and two ranks. Rank 1 prints a text and
// ends; rank 0 waits for the line "stop", and then stops itself by SIGTERM.
//
//     lab12_bug_hunt
//
// Exit codes: 0 if the output of each rank ended with the rank and rank 0 was stopped by
// SIGTERM, else 1.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"

using namespace mini;

namespace {

struct Pipe {
    Descriptor read, write;
};

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, 0) != 0) throw Error("no pipe");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Rank {
    const char* script;
    Pipe in = make_pipe();   // the rank's stdin
    Pipe out = make_pipe();  // the rank's stdout
    pid_t pid = -1;
};

// Starts a rank, and closes the rank's ends of the pipes in this process.
void start(Rank& rank) {
    rank.pid = fork();
    if (rank.pid < 0) throw Error("no process");
    if (rank.pid == 0) {
        dup2(rank.in.read.fd(), STDIN_FILENO);
        dup2(rank.out.write.fd(), STDOUT_FILENO);
        execlp("sh", "sh", "-c", rank.script, nullptr);
        _exit(127);
    }
    rank.in.read.close();
    rank.out.write.close();
}

// Waits until the rank's program runs: its first byte.
void wait_until_started(const Rank& rank) {
    char first;
    (void)!read(rank.out.read.fd(), &first, 1);
}

// Appends the output so far to `text`. Returns whether the pipe has ended, which means
// that no process has its write end any more.
bool read_output(const Rank& rank, std::string& text) {
    while (true) {
        pollfd readable{rank.out.read.fd(), POLLIN, 0};
        if (poll(&readable, 1, 0) == 0) return false;
        std::array<char, 256> buffer;
        const ssize_t count = read(readable.fd, buffer.data(), buffer.size());
        if (count <= 0) return true;
        text.append(buffer.data(), static_cast<size_t>(count));
    }
}

// Waits until a rank ends, prints how it ended, and returns whether its output has ended.
bool conclude(int number, const Rank& rank, bool& by_signal) {
    int status = 0;
    waitpid(rank.pid, &status, 0);
    by_signal = WIFSIGNALED(status);
    std::string text;
    const bool ended = read_output(rank, text);
    std::cout << fmt::format("rank {}: {}, wrote \"{}\"; its output {}\n", number,
                             by_signal
                                 ? fmt::format("killed by signal {}", WTERMSIG(status))
                                 : fmt::format("exit code {}", WEXITSTATUS(status)),
                             text, ended ? "has ended" : "has not ended   wrong");
    return ended;
}

}  // namespace

int main() {
    // The launcher reads its own signals by sigwait or a signalfd, so it blocks them.
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&ours, signal);
    sigprocmask(SIG_BLOCK, &ours, nullptr);

    std::vector<Rank> ranks;
    ranks.push_back({"printf .; read stop; kill -TERM $$; printf 'still here'"});
    ranks.push_back({"printf .; printf 'all done'"});
    for (Rank& rank : ranks) start(rank);
    for (const Rank& rank : ranks) wait_until_started(rank);

    // Rank 1 ends by itself; then rank 0 gets the line "stop", and sends itself SIGTERM.
    bool killed = false;
    const bool second = conclude(1, ranks[1], killed);
    const std::string order = "stop\n";
    (void)!write(ranks[0].in.write.fd(), order.data(), order.size());
    const bool first = conclude(0, ranks[0], killed);
    if (!killed) std::cout << "rank 0 was not stopped by SIGTERM   wrong\n";
    const bool good = first && second && killed;
    std::cout << (good ? "the launcher is well\n" : "the launcher has a bug\n");
    return good ? 0 : 1;
}
