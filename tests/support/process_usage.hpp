// What this process occupies, as the kernel counts it.

#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

namespace mini::test {

/// The memory that this process occupies, in bytes.
inline size_t resident_bytes() {
    size_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

inline size_t open_descriptors() {
    const std::filesystem::directory_iterator first("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(first), end(first)));
}

}  // namespace mini::test
