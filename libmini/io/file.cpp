#include "libmini/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file_system.hpp"

namespace mini::io {

namespace fs = std::filesystem;

void bad_file(const std::string& path, const std::string& expected,
              const std::string& found, const std::string& next_step) {
    throw BadFile(path, ": expected ", expected, ", found ", found, "; ", next_step);
}

InputFile::InputFile(const std::string& path, const std::string& next_step)
    : path_(path) {
    const std::string advice = next_step.empty() ? "" : "; " + next_step;
    // Without O_NONBLOCK, opening a pipe without a writer would block. For a regular
    // file, the flag has no effect.
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) throw BadFile(path, ": ", system_message("open", errno), advice);

    struct stat status = {};
    const bool has_status = fstat(fd_, &status) == 0;
    if (!has_status || !S_ISREG(status.st_mode)) {
        close(fd_);
        throw BadFile(
            path, ": not a regular file, but ",
            S_ISDIR(status.st_mode) ? "a directory" : "a pipe, socket or device", advice);
    }
    size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(fd_); }

void InputFile::read(uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t n =
            pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw BadFile(path_, ": ", system_message("read", errno));
        if (n == 0)
            throw BadFile(path_, ": ends at byte ", offset, ", ", bytes.size(),
                          " bytes too early");
        bytes = bytes.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
}

void InputFile::check_size(uint64_t max_bytes, const std::string& next_step) const {
    if (size_ > max_bytes)
        bad_file(path_, concat("at most ", max_bytes, " bytes"), concat(size_),
                 next_step);
}

std::vector<uint8_t> InputFile::read_all(uint64_t max_bytes,
                                         const std::string& next_step) const {
    check_size(max_bytes, next_step);
    std::vector<uint8_t> bytes(size_);
    read(0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
}

void check_can_save(const std::string& path, size_t bytes) {
    std::error_code ignored;
    if (fs::is_symlink(path, ignored) && !fs::exists(path, ignored))
        throw BadFile(path, ": is a symbolic link to ",
                      fs::read_symlink(path, ignored).string(), ", which does not exist");
    AtomicFile(path).write(std::vector<std::byte>(bytes));
}

void write_file(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace mini::io
