#include "libmini/io/file_system.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <type_traits>

namespace mini::io {
namespace {

class MachineFileSystem final : public FileSystem {
  public:
    int stat(const std::string& path, struct stat& status) override {
        return ::stat(path.c_str(), &status);
    }
    int create(const std::string& path) override {
        return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    int open_folder(const std::string& path) override {
        return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    ssize_t write(int fd, std::span<const std::byte> bytes) override {
        return ::write(fd, bytes.data(), bytes.size());
    }
    int fsync(int fd) override { return ::fsync(fd); }
    int close(int fd) override { return ::close(fd); }
    int rename(const std::string& from, const std::string& to) override {
        return ::rename(from.c_str(), to.c_str());
    }
    int remove(const std::string& path) override { return ::unlink(path.c_str()); }
};

constinit MachineFileSystem machine_file_system;
static_assert(std::is_trivially_destructible_v<MachineFileSystem>);
constinit std::atomic<FileSystem*> file_system_in_use = &machine_file_system;

}  // namespace

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

FileSystem& file_system() noexcept {
    return *file_system_in_use.load(std::memory_order_acquire);
}

FileSystemGuard::FileSystemGuard(FileSystem& replacement) {
    file_system_in_use = &replacement;
}

FileSystemGuard::~FileSystemGuard() { file_system_in_use = &machine_file_system; }

}  // namespace mini::io
