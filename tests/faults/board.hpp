// Memory that processes share: the board, to which all processes of a scene write.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/deadline.hpp"

namespace mini::dist::faults {

constexpr size_t kMaxRanks = 8, kMaxText = 1500;

struct Board {
    std::atomic<int64_t> fault_time;             // in ticks of now(); 0: no fault yet
    std::atomic<int64_t> start_time[kMaxRanks];  // of the rank's last operation
    std::atomic<int64_t> error_time[kMaxRanks];
    std::atomic<int> ended;               // number of ranks that have finished
    std::atomic<int> process[kMaxRanks];  // process ids, if the ranks are not children
    char text[kMaxRanks][kMaxText];
};

inline int64_t now() { return Clock::now().time_since_epoch().count(); }

/// An object, of zero bytes at first, in memory of several processes.
template <typename T>
class Shared {
  public:
    /// Creates an object that this process shares with its children or, if `file` is
    /// given, with every process that opens the same file.
    explicit Shared(const std::string& file = "") {
        const int fd =
            file.empty() ? -1 : ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        const bool fits = file.empty() || ::ftruncate(fd, sizeof(T)) == 0;
        MINI_CHECK(fits, system_message(file, errno));
        void* const place =
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
        if (fd >= 0) ::close(fd);
        MINI_CHECK(place != MAP_FAILED, system_message("mmap", errno));
        object_ = static_cast<T*>(place);
    }
    ~Shared() { ::munmap(object_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }

  private:
    T* object_ = nullptr;
};

using SharedBoard = Shared<Board>;

}  // namespace mini::dist::faults
