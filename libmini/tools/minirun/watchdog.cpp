#include "libmini/tools/minirun/watchdog.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/tools/minirun/option_values.hpp"

namespace mini::tools {

struct Watchdog::Shared {
    std::array<std::atomic<pid_t>, kMaxRanks> groups = {};  // 0: a free entry
    char folder[PATH_MAX] = {};

    // Replaces the value `from` of one entry by `to`.
    void replace(pid_t from, pid_t to) {
        for (auto& group : groups)
            if (pid_t value = from; group.compare_exchange_strong(value, to)) return;
    }

    void clean_up() const {
        for (const auto& group : groups)
            if (group != 0) kill(-group, SIGKILL);
        std::error_code ignored;
        if (folder[0] != '\0') std::filesystem::remove_all(folder, ignored);
    }
};

Watchdog::Watchdog() {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(system_message("mmap", errno));
    shared_ = new (memory) Shared;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(system_message("pipe", errno));
    const Descriptor read_end(ends[0]);
    pipe_ = Descriptor(ends[1]);
    pid_ = fork();
    if (pid_ < 0) throw Error(system_message("fork", errno));
    if (pid_ > 0) return;

    // The watchdog: leave the terminal, block all signals, and wait for minirun's end.
    pipe_.close();
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
    char nothing;
    while (read(read_end.fd(), &nothing, 1) < 0 && errno == EINTR) continue;
    shared_->clean_up();
    _exit(0);
}

Watchdog::~Watchdog() {
    pipe_.close();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    munmap(shared_, sizeof(Shared));
}

void Watchdog::group_begins(pid_t group) const { shared_->replace(0, group); }

void Watchdog::group_ended(pid_t group) const { shared_->replace(group, 0); }

void Watchdog::will_remove(const std::string& folder) const {
    // The first byte comes last: a part of a path is never removed.
    std::atomic_ref<char> first(shared_->folder[0]);
    first = '\0';
    if (folder.empty()) return;
    const size_t others = folder.copy(shared_->folder + 1, PATH_MAX - 2, 1);
    shared_->folder[1 + others] = '\0';
    first = folder.front();
}

}  // namespace mini::tools
