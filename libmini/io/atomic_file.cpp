#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"

// [lab17 file]
namespace mini::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& call) {
    throw BadFile(path, ": ", system_message(call, errno));
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

// Some file systems do not support fsync of a folder, and return EINVAL.
void sync_folder(const std::string& path) {
    // [lab17.3] Open the folder, fsync it, and close it.
    const int fd = file_system().open_folder(folder_of(path));
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0 || errno == EINVAL;
    const int error_number = errno;
    file_system().close(fd);
    errno = error_number;
    if (!synced) fail(path, "fsync of its folder");
    // [lab17.3]
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
    struct stat status = {};
    const bool exists = file_system().stat(path, status) == 0;
    std::error_code error;
    const std::string target = fs::read_symlink(path, error).string();  // of /dev/stdout
    if ((exists && !S_ISREG(status.st_mode)) || target.starts_with("/proc/"))
        throw BadFile(path, ": exists and is not a regular file; not replacing it");
    fd_ = open_temporary(path, temporary_);
}

AtomicFile::~AtomicFile() {
    if (fd_ >= 0) file_system().close(fd_);
    if (!temporary_.empty()) file_system().remove(temporary_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    // [lab17.3] Write until no byte is left.
    while (!bytes.empty()) {
        const ssize_t n = file_system().write(fd_, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(path_, "write");
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    // [lab17.3]
}

void AtomicFile::commit() {
    // [lab17.3] First the contents, then the name.
    if (file_system().fsync(fd_) != 0) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
    // [lab17.3]
}

void create_folder(const std::string& path) {
    // Find the folders that do not exist, without a slash at the end of their names.
    std::vector<std::string> created;
    std::error_code error;
    fs::path folder = fs::path(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    for (; !folder.empty() && !fs::exists(folder, error); folder = folder.parent_path())
        created.push_back(folder.string());

    fs::create_directories(path, error);
    if (error) throw BadFile(path, ": creating the folder failed: ", error.message());
    for (const std::string& name : created) sync_folder(name);
}

}  // namespace mini::io
// [lab17 file]
