#include "libmini/extras/report/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "libmini/core/error.hpp"

namespace mini::report {
AppendFile::AppendFile(const std::string& path)
    : path_(path),
      fd_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                 0644)) {
    if (fd_ < 0) throw BadFile(concat(path, ": cannot open: ", std::strerror(errno)));
    struct stat status = {};
    if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) return;
    ::close(fd_);
    throw BadFile(concat(path, ": not a regular file"));
}

AppendFile::~AppendFile() { ::close(fd_); }

void AppendFile::append(std::string_view record) {
    while (!record.empty()) {
        const ssize_t written = ::write(fd_, record.data(), record.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            throw BadFile(concat(path_, ": cannot write: ", std::strerror(errno)));
        record.remove_prefix(static_cast<size_t>(written));
    }
}

void AppendFile::end_line() {
    std::ifstream file(path_, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() == std::streampos(0)) return;
    file.seekg(-1, std::ios::end);
    if (file.get() != '\n') append("\n");
}

}  // namespace mini::report
