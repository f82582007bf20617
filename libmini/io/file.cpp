#include "libmini/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file_system.hpp"

namespace mini::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& call) {
    throw BadFile(concat(path, ": ", system_message(call, errno)));
}

// Returns whether `path` is a link such as /dev/stdout to an open file of a process.
bool is_link_to_open_file(const std::string& path) {
    std::error_code not_a_link;
    return fs::read_symlink(path, not_a_link).string().starts_with("/proc/");
}

// Creates a new file in the folder of `path`, stores its path in `name`, and returns its
// descriptor.
int open_temporary(const std::string& path, std::string& name) {
    static std::atomic<int> counter = 0;
    while (true) {
        name = concat(path, ".tmp-", getpid(), "-", counter++);
        const int fd = file_system().create(name);
        if (fd >= 0) return fd;
        if (errno != EEXIST) fail(path, "creating a temporary file beside it");
    }
}

// Makes a rename in the folder of `path` durable. Throws BadFile; ignores EINVAL, which
// some file systems return because they do not support fsync of a folder.
void sync_folder(const std::string& path) {
    const std::string folder = folder_of(path);
    // [lab17.4] Open the folder, fsync it, and close it.
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0 || errno == EINVAL;
    const int error_number = errno;
    file_system().close(fd);
    errno = error_number;
    if (!synced) fail(path, "fsync of its folder");
    // [lab17.4]
}

}  // namespace

void bad_file(const std::string& path, const std::string& expected,
              const std::string& found, const std::string& next_step) {
    throw BadFile(
        concat(path, ": expected ", expected, ", found ", found, "; ", next_step));
}

InputFile::InputFile(const std::string& path, const std::string& next_step)
    : path_(path) {
    const std::string advice = next_step.empty() ? "" : "; " + next_step;
    // Without O_NONBLOCK, opening a pipe without a writer would block. For a regular
    // file, the flag has no effect.
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) throw BadFile(concat(path, ": ", system_message("open", errno), advice));

    struct stat status = {};
    const bool has_status = fstat(fd_, &status) == 0;
    if (!has_status || !S_ISREG(status.st_mode)) {
        close(fd_);
        throw BadFile(
            concat(path, ": not a regular file, but ",
                   S_ISDIR(status.st_mode) ? "a directory" : "a pipe, socket or device",
                   advice));
    }
    size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(fd_); }

void InputFile::read(uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t n =
            pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(path_, "read");
        if (n == 0)
            throw BadFile(concat(path_, ": ends at byte ", offset, ", ", bytes.size(),
                                 " bytes too early"));
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

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
    struct stat status = {};
    const bool exists = file_system().stat(path, status) == 0;
    if ((exists && !S_ISREG(status.st_mode)) || is_link_to_open_file(path))
        throw BadFile(
            concat(path, ": exists and is not a regular file; not replacing it"));
    fd_ = open_temporary(path, temporary_);
}

AtomicFile::~AtomicFile() {
    if (fd_ >= 0) file_system().close(fd_);
    if (!temporary_.empty()) file_system().remove(temporary_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    // [lab17.4] Write until no byte is left.
    while (!bytes.empty()) {
        const ssize_t n = file_system().write(fd_, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(path_, "write");
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    // [lab17.4]
}

void AtomicFile::commit() {
    // [lab17.4] First the contents, then the name.
    if (file_system().fsync(fd_) != 0) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
    // [lab17.4]
}

void check_can_save(const std::string& path, size_t bytes) {
    std::error_code ignored;
    if (fs::is_symlink(path, ignored) && !fs::exists(path, ignored))
        throw BadFile(concat(path, ": is a symbolic link to ",
                             fs::read_symlink(path, ignored).string(),
                             ", which does not exist"));
    AtomicFile(path).write(std::vector<std::byte>(bytes));
}

void create_folder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        throw BadFile(concat(path, ": creating the folder failed: ", error.message()));
}

void create_folder_on_disk(const std::string& path) {
    // Find the folders that do not exist, without a slash at the end of their names.
    std::vector<std::string> created;
    fs::path folder = fs::path(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    std::error_code unreadable;
    for (; !folder.empty() && !fs::exists(folder, unreadable);
         folder = folder.parent_path())
        created.push_back(folder.string());

    create_folder(path);
    for (const std::string& name : created) sync_folder(name);
}

void write_file(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace mini::io
