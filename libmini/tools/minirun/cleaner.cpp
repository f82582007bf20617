#include "libmini/tools/minirun/cleaner.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::tools {

// Follows the messages until no process has the other end any more, and cleans up. Checks
// each group, because kill(-1) would kill all processes of the user.
void Cleaner::clean_up_after(const Descriptor& socket, std::string folder) {
    std::set<pid_t> groups;
    Message message{};
    while (recv(socket.fd(), &message, sizeof(message), 0) == sizeof(message)) {
        if (message.what == '+' && message.group > 1) groups.insert(message.group);
        if (message.what == '-') groups.erase(message.group);
        if (message.what == 'k') folder.clear();
    }
    for (const pid_t group : groups) kill(-group, SIGKILL);
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

Cleaner::Cleaner(const std::string& folder) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(system_message("socketpair", errno));
    const Descriptor other_end(ends[1]);
    socket_ = Descriptor(ends[0]);
    pid_ = fork();
    if (pid_ < 0) throw Error(system_message("fork", errno));
    if (pid_ > 0) return;

    // The cleaner: leave the terminal and block all signals.
    socket_.close();
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
    clean_up_after(other_end, folder);
    _exit(0);
}

Cleaner::~Cleaner() {
    socket_.close();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Cleaner::send(Message message) const {
    ::send(socket_.fd(), &message, sizeof(message), MSG_NOSIGNAL);
}

}  // namespace mini::tools
