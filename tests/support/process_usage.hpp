// The resources that this process uses, from /proc.

#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

namespace mini::test {

/// Returns the resident memory of this process in bytes.
inline size_t resident_bytes() {
    size_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns the number of open descriptors, including one that this call opens to count
/// them.
inline size_t open_descriptors() {
    const std::filesystem::directory_iterator first("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(first), end(first)));
}

}  // namespace mini::test
