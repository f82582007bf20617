// Which sanitizer watches this build.

#pragma once

namespace mini::test {

/// The thread sanitizer: what is done many times alike is done less often, for it takes
/// 10 to 30 times as long.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kWatchesThreads = true;
#else
inline constexpr bool kWatchesThreads = false;
#endif

}  // namespace mini::test
