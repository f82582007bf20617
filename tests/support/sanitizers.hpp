// The sanitizer of this build.

#pragma once

namespace mini::test {

/// True with the address sanitizer.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWatchesMemory = true;
#elif defined(__has_feature)
inline constexpr bool kWatchesMemory = __has_feature(address_sanitizer);
#else
inline constexpr bool kWatchesMemory = false;
#endif

/// True with the thread sanitizer, which makes tests 10 to 30 times slower and starts a
/// thread of its own.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kWatchesThreads = true;
#elif defined(__has_feature)
inline constexpr bool kWatchesThreads = __has_feature(thread_sanitizer);
#else
inline constexpr bool kWatchesThreads = false;
#endif

/// True with either of these sanitizers. Both keep freed memory and add shadow memory, so
/// tests cannot check the use of memory.
inline constexpr bool kSanitized = kWatchesMemory || kWatchesThreads;

}  // namespace mini::test
