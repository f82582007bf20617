// The functions that instrumented kernels call, with GCC and Clang, before each load and
// store. The return address identifies the source line.
//
// A hook with a number knows that the compiler counts on an aligned address; accesses
// that may be unaligned come as ranges, or as "unaligned" ones.
//
// C++ atomics are executed here but not reported: CUDA's atomics are reported by
// note_atomic.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libmini/extras/cudasim/hooks.hpp"

// clang-format off
#define MINI_RETURN_ADDRESS \
    (static_cast<const char*>(__builtin_extract_return_addr(__builtin_return_address(0))) - 1)
#define MINI_TELL(pointer, bytes, alignment, mode, ...)                       \
    if (mini::sim::is_inspected()) [[unlikely]]                               \
    mini::sim::tell::access({const_cast<const void*>(pointer),         \
                                    static_cast<size_t>(bytes), alignment,    \
                                    mini::sim::Mode::mode,                    \
                                    MINI_RETURN_ADDRESS __VA_OPT__(, ) __VA_ARGS__})

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define MINI_HOOKS(n)                                                                   \
    void __tsan_read##n(void* p) { MINI_TELL(p, n, n, kRead); }                         \
    void __tsan_write##n(void* p) { MINI_TELL(p, n, n, kWrite); }                       \
    void __tsan_unaligned_read##n(void* p) { MINI_TELL(p, n, 1, kRead); }               \
    void __tsan_unaligned_write##n(void* p) { MINI_TELL(p, n, 1, kWrite); }             \
    void __tsan_volatile_read##n(void* p) { MINI_TELL(p, n, n, kRead, true); }                \
    void __tsan_volatile_write##n(void* p) { MINI_TELL(p, n, n, kWrite, true); }              \
    void __tsan_unaligned_volatile_read##n(void* p) { MINI_TELL(p, n, 1, kRead, true); }      \
    void __tsan_unaligned_volatile_write##n(void* p) { MINI_TELL(p, n, 1, kWrite, true); }    \
    void __tsan_read_write##n(void* p) {                                                \
        MINI_TELL(p, n, n, kRead);                                                      \
        MINI_TELL(p, n, n, kWrite);                                                     \
    }                                                                                   \
    void __tsan_unaligned_read_write##n(void* p) {                                      \
        MINI_TELL(p, n, 1, kRead);                                                      \
        MINI_TELL(p, n, 1, kWrite);                                                     \
    }
MINI_HOOKS(1)
MINI_HOOKS(2)
MINI_HOOKS(4)
MINI_HOOKS(8)
MINI_HOOKS(16)

void __tsan_read_range(void* p, unsigned long n) { MINI_TELL(p, n, 1, kRead); }
void __tsan_write_range(void* p, unsigned long n) { MINI_TELL(p, n, 1, kWrite); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void* __tsan_memcpy(void* to, const void* from, size_t n) {
    MINI_TELL(from, n, 1, kRead);
    MINI_TELL(to, n, 1, kWrite);
    return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
    MINI_TELL(from, n, 1, kRead);
    MINI_TELL(to, n, 1, kWrite);
    return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, size_t n) {
    MINI_TELL(to, n, 1, kWrite);
    return std::memset(to, value, n);
}

#define MINI_FETCH(bits, operation)                                                     \
    uint##bits##_t __tsan_atomic##bits##_fetch_##operation(volatile uint##bits##_t* p,  \
                                                           uint##bits##_t v, int) {     \
        return __atomic_fetch_##operation(p, v, __ATOMIC_SEQ_CST);                      \
    }
#define MINI_COMPARE_EXCHANGE(bits, kind)                                               \
    int __tsan_atomic##bits##_compare_exchange_##kind(                                  \
        volatile uint##bits##_t* p, uint##bits##_t* expected, uint##bits##_t v, int,    \
        int) {                                                                          \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,     \
                                           __ATOMIC_SEQ_CST);                           \
    }
#define MINI_ATOMICS(bits)                                                              \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* p, int) {  \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                    \
    }                                                                                   \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t* p, uint##bits##_t v,      \
                                     int) {                                             \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                       \
    }                                                                                   \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t* p,           \
                                                  uint##bits##_t v, int) {              \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                             \
    }                                                                                   \
    MINI_FETCH(bits, add)                                                               \
    MINI_FETCH(bits, sub)                                                               \
    MINI_FETCH(bits, and)                                                               \
    MINI_FETCH(bits, or)                                                                \
    MINI_FETCH(bits, xor)                                                               \
    MINI_FETCH(bits, nand)                                                              \
    MINI_COMPARE_EXCHANGE(bits, strong)                                                 \
    MINI_COMPARE_EXCHANGE(bits, weak)                                                   \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                          \
        volatile uint##bits##_t* p, uint##bits##_t expected, uint##bits##_t v, int,     \
        int) {                                                                          \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST,           \
                                    __ATOMIC_SEQ_CST);                                  \
        return expected;                                                                \
    }
MINI_ATOMICS(8)
MINI_ATOMICS(16)
MINI_ATOMICS(32)
MINI_ATOMICS(64)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // extern "C"
