#include "libmini/tools/minirun/signals.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

// Sent to programs by users, terminals and batch systems to end them.
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Keep their default action: the kernel does not end a process for them, or minirun
// cannot continue after them.
constexpr int kDefaultSignals[] = {SIGKILL,  SIGSTOP, SIGTTIN, SIGTTOU, SIGURG,
                                   SIGWINCH, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                   SIGABRT,  SIGTRAP, SIGSYS};

bool contains(const auto& signals, int signal) {
    return std::ranges::find(signals, signal) != std::end(signals);
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Returns the number at the start of a /proc file's value, in the base; 0 without one.
uint64_t number_in(const std::string& text, int base) {
    return std::strtoull(text.c_str(), nullptr, base);
}

// Returns whether the process has a handler for the signal, by /proc/PID/status.
bool handles(const std::filesystem::path& process, int signal) {
    std::ifstream file(process / "status");
    std::string line;
    while (std::getline(file, line) && !line.starts_with("SigCgt:")) continue;
    const uint64_t mask = number_in(line.substr(std::min<size_t>(line.size(), 7)), 16);
    return (mask >> (signal - 1) & 1) != 0;
}

void do_nothing(int) {}

}  // namespace

int ending_signal_for_ranks(int signal) {
    return contains(kEndingSignals, signal) ? signal : SIGTERM;
}

int send_to_handlers(pid_t group, int signal) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const auto pid =
            static_cast<pid_t>(number_in(entry.path().filename().string(), 10));
        if (pid == 0) continue;

        // The descriptor keeps meaning this process, even if its pid is reused.
        const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        if (getpgid(pid) != group || !handles(entry.path(), signal)) continue;
        if (syscall(SYS_pidfd_send_signal, process.fd(), signal, nullptr, 0) == 0)
            ++count;
    }
    return count;
}

Descriptor open_signals() {
    ::signal(SIGCHLD,
             SIG_DFL);  // if ignored, ended children would be reaped by the kernel
    sigset_t wanted;
    sigemptyset(&wanted);
    for (int signal = 1; signal <= SIGRTMAX; ++signal)
        if (!contains(kDefaultSignals, signal) && !is_ignored(signal)) {
            sigaddset(&wanted, signal);
            if (signal == SIGUSR1 || signal == SIGUSR2) ::signal(signal, do_nothing);
        }
    sigprocmask(SIG_BLOCK, &wanted, nullptr);

    Descriptor signals(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals.is_open()) throw Error(system_message("signalfd", errno));
    return signals;
}

}  // namespace mini::tools
