#include "libmini/tools/minirun/caretaker.hpp"

#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

// A message to the caretaker. The first two kinds use `group`, the third uses `folder`.
// Only the bytes up to the end of the folder's name are sent, without a terminating null.
struct Message {
    enum Kind : char { kGroupBegins, kGroupEnded, kRemove, kKeep };
    Kind kind = kKeep;
    pid_t group = 0;
    char folder[PATH_MAX] = {};
};
constexpr size_t kHeadBytes = offsetof(Message, folder);

// Sends a message, without SIGPIPE: the job must continue if the caretaker was killed.
void send_message(const Descriptor& connection, const Message& message,
                  size_t folder_bytes = 0) {
    while (send(connection.fd(), &message, kHeadBytes + folder_bytes, MSG_NOSIGNAL) < 0 &&
           errno == EINTR)
        continue;
}

// Detaches the process from the terminal and blocks all signals.
void detach() {
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
}

// The main function of the caretaker process: handles messages until the connection
// closes, then cleans up.
void run_caretaker(const Descriptor& connection) {
    std::set<pid_t> groups;
    std::string folder;
    while (true) {
        Message message;
        const ssize_t count = recv(connection.fd(), &message, sizeof message, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        switch (message.kind) {
            case Message::kGroupBegins: groups.insert(message.group); break;
            case Message::kGroupEnded: groups.erase(message.group); break;
            case Message::kRemove:
                folder.assign(message.folder, static_cast<size_t>(count) - kHeadBytes);
                break;
            case Message::kKeep: folder.clear(); break;
        }
    }
    for (const pid_t group : groups) kill(-group, SIGKILL);
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

Caretaker::Caretaker() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(system_message("socketpair", errno));
    connection_ = Descriptor(ends[0]);
    const Descriptor its_end(ends[1]);
    pid_ = fork();
    if (pid_ < 0) throw Error(system_message("fork", errno));
    if (pid_ > 0) return;

    connection_.close();
    detach();
    run_caretaker(its_end);
    _exit(0);
}

Caretaker::~Caretaker() {
    connection_.close();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Caretaker::group_begins(pid_t group) const {
    send_message(connection_, {.kind = Message::kGroupBegins, .group = group});
}

void Caretaker::group_ended(pid_t group) const {
    send_message(connection_, {.kind = Message::kGroupEnded, .group = group});
}

void Caretaker::will_remove(const std::string& folder) const {
    Message message{.kind = Message::kRemove};
    const size_t bytes = std::min(folder.size(), sizeof message.folder);
    std::copy_n(folder.begin(), bytes, message.folder);
    send_message(connection_, message, bytes);
}

void Caretaker::will_keep_folder() const {
    send_message(connection_, {.kind = Message::kKeep});
}

}  // namespace mini::tools
