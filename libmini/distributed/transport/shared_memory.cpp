#include "libmini/distributed/transport/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>

namespace mini::dist {
namespace {

class MappedMemory : public Memory {
  public:
    MappedMemory(int descriptor, size_t bytes, uint64_t begin) : bytes_(bytes) {
        void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   descriptor, static_cast<off_t>(begin));
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

void add_seals(const Socket& descriptor, int seals) {
    MINI_CHECK(::fcntl(descriptor.fd(), F_ADD_SEALS, seals) == 0,
               system_message("fcntl", errno));
}

}  // namespace

Socket make_memory_file(const char* name) {
    Socket descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    MINI_CHECK(descriptor.is_open(), system_message("memfd_create", errno),
               "; --medium tcp needs no shared memory");
    add_seals(descriptor, F_SEAL_SHRINK);  // a reader of lost bytes would die by SIGBUS
    return descriptor;
}

std::shared_ptr<Memory> extend_memory_file(const Socket& descriptor, uint64_t begin,
                                           size_t bytes) {
    // Allocate the pages now, so that a lack of memory is an error. At the first access,
    // a lack of memory would be a SIGBUS.
    const int error = ::posix_fallocate(descriptor.fd(), static_cast<off_t>(begin),
                                        static_cast<off_t>(bytes));
    MINI_CHECK(error == 0, "shared memory of ", bytes,
               " bytes: ", system_message("posix_fallocate", error),
               "; --medium tcp needs no shared memory");
    return std::make_shared<MappedMemory>(descriptor.fd(), bytes, begin);
}

NewSharedMemory make_shared_memory(size_t bytes) {
    Socket descriptor = make_memory_file("mini-ring");
    auto memory = extend_memory_file(descriptor, 0, bytes);
    add_seals(descriptor, F_SEAL_GROW | F_SEAL_SEAL);
    return {std::move(memory), std::move(descriptor)};
}

std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes,
                                          uint64_t begin) {
    struct stat info {};
    MINI_CHECK(::fstat(descriptor.fd(), &info) == 0, system_message("fstat", errno));
    const auto end = static_cast<uint64_t>(info.st_size);
    MINI_CHECK(begin <= end && bytes <= end - begin, "shared memory has ", end,
               " bytes where ", bytes, " bytes at ", begin, " are expected");
    const int seals = ::fcntl(descriptor.fd(), F_GET_SEALS);
    MINI_CHECK(seals >= 0 && (seals & F_SEAL_SHRINK), "shared memory is not sealed");
    return std::make_shared<MappedMemory>(descriptor.fd(), bytes, begin);
}

}  // namespace mini::dist
