#include "libmini/distributed/transport/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr const char* kAdvice = "; --medium tcp needs no shared memory";

}  // namespace

Memory::Memory(int descriptor, size_t bytes) : bytes_(bytes) {
    const int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void* const place =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    MINI_CHECK(place != MAP_FAILED, "shared memory of ", bytes,
               " bytes: ", system_message("mmap", errno));
    data_ = static_cast<std::byte*>(place);
}

Memory::~Memory() { ::munmap(data_, bytes_); }

NewSharedMemory make_shared_memory(size_t bytes) {
    Socket descriptor(::memfd_create("mini-ring", MFD_CLOEXEC));
    MINI_CHECK(descriptor.is_open(), system_message("memfd_create", errno), kAdvice);
    // Allocate the pages now, so that a lack of memory is an error. At the first access,
    // a lack of memory would be a SIGBUS.
    const int error = ::posix_fallocate(descriptor.fd(), 0, static_cast<off_t>(bytes));
    MINI_CHECK(error == 0, "shared memory of ", bytes,
               " bytes: ", system_message("posix_fallocate", error), kAdvice);
    auto memory = std::make_shared<Memory>(descriptor.fd(), bytes);
    return {std::move(memory), std::move(descriptor)};
}

std::shared_ptr<Memory> map_shared_memory(int process, int descriptor, size_t bytes) {
    const std::string path = concat("/proc/", process, "/fd/", descriptor);
    const Socket opened(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    MINI_CHECK(opened.is_open(), system_message(concat("open ", path), errno), kAdvice);
    struct stat info {};
    MINI_CHECK(::fstat(opened.fd(), &info) == 0, system_message("fstat", errno));
    MINI_CHECK(static_cast<uint64_t>(info.st_size) == bytes, "shared memory has ",
               info.st_size, " bytes where ", bytes, " bytes are expected");
    return std::make_shared<Memory>(opened.fd(), bytes);
}

std::string memory_sharing_id() {
    std::array<char, 64> processes{};
    const ssize_t n =
        ::readlink("/proc/self/ns/pid", processes.data(), processes.size() - 1);
    return concat(::geteuid(), "/", ::getegid(), "/", n > 0 ? processes.data() : "?");
}

}  // namespace mini::dist
