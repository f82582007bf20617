// Notifies the address and thread sanitizers of stack switches. Without a sanitizer these
// functions are empty.

#pragma once

#include <cstddef>

#if !defined(__has_feature)  // GCC defines the macros of the second form
#define __has_feature(name) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define MINI_ADDRESS_SANITIZER 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define MINI_THREAD_SANITIZER 1
#include <sanitizer/tsan_interface.h>
#endif

namespace mini::sanitizers {

#if defined(MINI_ADDRESS_SANITIZER)
inline void leave_stack(void** fake_stack, const void* next, size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, next, bytes);
}
inline void reach_stack(void* fake_stack) {
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}
/// Marks a stack as accessible again, before it is reused: old frames left it poisoned.
inline void clear_stack(void* stack, size_t bytes) {
    __asan_unpoison_memory_region(stack, bytes);
}
#else
inline void leave_stack(void**, const void*, size_t) {}
inline void reach_stack(void*) {}
inline void clear_stack(void*, size_t) {}
#endif

#if defined(MINI_THREAD_SANITIZER)
inline void* this_fiber() { return __tsan_get_current_fiber(); }
inline void* make_fiber() { return __tsan_create_fiber(0); }
inline void destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void switch_fiber(void* fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
inline void* this_fiber() { return nullptr; }
inline void* make_fiber() { return nullptr; }
inline void destroy_fiber(void*) {}
inline void switch_fiber(void*) {}
#endif

}  // namespace mini::sanitizers
