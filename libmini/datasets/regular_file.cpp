#include "libmini/datasets/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libmini/core/error.hpp"

namespace mini::data {
namespace {

std::string kind_of(mode_t mode) {
    return S_ISDIR(mode) ? "a directory" : "a pipe, socket or device";
}

}  // namespace

void bad_file(const std::string& path, const std::string& expected,
              const std::string& found, const std::string& next_step) {
    throw BadFile(
        concat(path, ": expected ", expected, ", found ", found, "; ", next_step));
}

RegularFile::RegularFile(const std::string& path, const FileKind& kind)
    : path_(path), kind_(kind) {
    // O_NONBLOCK: opening a pipe without a writer must not block.
    fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0)
        throw BadFile(concat(path, ": expected ", kind.name, " that can be read, but ",
                             system_message("open", errno),
                             "; check the path and its permissions, or ",
                             kind.next_step));
    struct stat info {};
    if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) {
        size_ = info.st_size;
        return;
    }
    ::close(fd_);
    bad_file(path, "a regular file", kind_of(info.st_mode),
             concat("give the path of ", kind.name, ", or ", kind.next_step));
}

RegularFile::~RegularFile() {
    if (fd_ >= 0) ::close(fd_);
}

size_t RegularFile::read(std::span<uint8_t> out) {
    ssize_t got = 0;
    do {
        got = ::read(fd_, out.data(), out.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        throw BadFile(concat(path_, ": ", system_message("read", errno), " at byte ",
                             position_, "; ", kind_.next_step));
    position_ += got;
    return static_cast<size_t>(got);
}

std::vector<uint8_t> RegularFile::read_all(int64_t max_bytes) {
    if (size_ > max_bytes)
        bad_file(path_, concat("at most ", max_bytes, " bytes"), concat(size_),
                 kind_.next_step);
    std::vector<uint8_t> bytes(static_cast<size_t>(size_));
    size_t have = 0;
    while (have < bytes.size()) {
        const size_t got = read(std::span(bytes).subspan(have));
        if (got == 0)
            bad_file(path_, concat(size_, " bytes, its size when it was opened"),
                     concat("only ", have), "do not change it while it is read");
        have += got;
    }
    return bytes;
}

}  // namespace mini::data
