// Memory that processes share: the board, to which all processes of a scene write.

#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist::faults {

constexpr size_t kMaxRanks = 8, kMaxText = 1500;

struct Board {
    std::atomic<int64_t> fault_time;             // in ticks of now(); 0: no fault yet
    std::atomic<int64_t> start_time[kMaxRanks];  // of the rank's last operation
    std::atomic<int64_t> error_time[kMaxRanks];
    std::atomic<int> ended;  // number of ranks that have finished
    char text[kMaxRanks][kMaxText];
};

inline int64_t now() { return Clock::now().time_since_epoch().count(); }

/// An object, of zero bytes at first, that this process shares with its children.
template <typename T>
class Shared {
  public:
    Shared() {
        void* const place = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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

}  // namespace mini::dist::faults
