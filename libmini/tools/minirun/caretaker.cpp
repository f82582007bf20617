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

// One message. `group` belongs to the first two kinds, `folder` to the third; the message
// ends where the folder's name does.
struct News {
    enum Kind : char { kGroupBegins, kGroupEnded, kRemove, kKeep };
    Kind kind = kKeep;
    pid_t group = 0;
    char folder[PATH_MAX] = {};
};
constexpr size_t kHeadBytes = offsetof(News, folder);

// Without SIGPIPE: a caretaker that was killed must not end the job.
void tell(const Descriptor& connection, const News& news, size_t folder_bytes = 0) {
    while (send(connection.fd(), &news, kHeadBytes + folder_bytes, MSG_NOSIGNAL) < 0 &&
           errno == EINTR)
        continue;
}

// Out of reach of the terminal and its signals.
void detach() {
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
}

// The life of the caretaker.
void take_care(const Descriptor& connection) {
    std::set<pid_t> groups;
    std::string folder;
    while (true) {
        News news;
        const ssize_t count = recv(connection.fd(), &news, sizeof news, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        switch (news.kind) {
            case News::kGroupBegins: groups.insert(news.group); break;
            case News::kGroupEnded: groups.erase(news.group); break;
            case News::kRemove:
                folder.assign(news.folder, static_cast<size_t>(count) - kHeadBytes);
                break;
            case News::kKeep: folder.clear(); break;
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
    take_care(its_end);
    _exit(0);
}

Caretaker::~Caretaker() {
    connection_.close();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Caretaker::group_begins(pid_t group) const {
    tell(connection_, {.kind = News::kGroupBegins, .group = group});
}

void Caretaker::group_ended(pid_t group) const {
    tell(connection_, {.kind = News::kGroupEnded, .group = group});
}

void Caretaker::will_remove(const std::string& folder) const {
    News news{.kind = News::kRemove};
    const size_t bytes = std::min(folder.size(), sizeof news.folder);
    std::copy_n(folder.begin(), bytes, news.folder);
    tell(connection_, news, bytes);
}

void Caretaker::will_keep_folder() const { tell(connection_, {.kind = News::kKeep}); }

}  // namespace mini::tools
