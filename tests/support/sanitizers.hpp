// The sanitizers of this build. Test code itself is compiled without the address sanitizer
// (libmini/cmake/MiniFlags.cmake), so the compiler's macros do not tell.

#pragma once

#include <string_view>

namespace mini::test {

inline constexpr std::string_view kSanitizers = MINI_SANITIZERS;

/// True with the address sanitizer.
inline constexpr bool kWatchesMemory = kSanitizers.find("address") != kSanitizers.npos;

/// True with the thread sanitizer, which makes tests 10 to 30 times slower and starts a
/// thread of its own.
inline constexpr bool kWatchesThreads = kSanitizers.find("thread") != kSanitizers.npos;

/// True with either of these sanitizers. Both keep freed memory and add shadow memory, so
/// tests cannot check the use of memory.
inline constexpr bool kSanitized = kWatchesMemory || kWatchesThreads;

}  // namespace mini::test
