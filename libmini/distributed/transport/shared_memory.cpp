#include "libmini/distributed/transport/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace mini::dist {
namespace {

class MappedMemory : public Memory {
  public:
    MappedMemory(int descriptor, size_t bytes) : bytes_(bytes) {
        void* const place =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        MINI_CHECK(place != MAP_FAILED, "shared memory of ", bytes,
                   " bytes: ", system_message("mmap", errno));
        data_ = static_cast<std::byte*>(place);
    }
    ~MappedMemory() override { ::munmap(data_, bytes_); }
    MappedMemory(const MappedMemory&) = delete;
    MappedMemory& operator=(const MappedMemory&) = delete;
    std::span<std::byte> bytes() override { return {data_, bytes_}; }

  private:
    size_t bytes_;
    std::byte* data_;
};

}  // namespace

NewSharedMemory make_shared_memory(size_t bytes) {
    Socket descriptor(::memfd_create("mini-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    MINI_CHECK(descriptor.is_open(), system_message("memfd_create", errno),
               "; --medium tcp needs no shared memory");
    // Allocate the pages now, so that a lack of memory is an error. At the first access,
    // a lack of memory would be a SIGBUS; so would an access to bytes that are lost.
    const int error = ::posix_fallocate(descriptor.fd(), 0, static_cast<off_t>(bytes));
    MINI_CHECK(error == 0, "shared memory of ", bytes,
               " bytes: ", system_message("posix_fallocate", error),
               "; --medium tcp needs no shared memory");
    MINI_CHECK(::fcntl(descriptor.fd(), F_ADD_SEALS,
                       F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0,
               system_message("fcntl", errno));
    auto memory = std::make_shared<MappedMemory>(descriptor.fd(), bytes);
    return {std::move(memory), std::move(descriptor)};
}

std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes) {
    struct stat info {};
    MINI_CHECK(::fstat(descriptor.fd(), &info) == 0, system_message("fstat", errno));
    MINI_CHECK(static_cast<uint64_t>(info.st_size) == bytes, "shared memory has ",
               info.st_size, " bytes where ", bytes, " bytes are expected");
    const int seals = ::fcntl(descriptor.fd(), F_GET_SEALS);
    MINI_CHECK(seals >= 0 && (seals & F_SEAL_SHRINK), "shared memory is not sealed");
    return std::make_shared<MappedMemory>(descriptor.fd(), bytes);
}

}  // namespace mini::dist
