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
#define MINI_TELL(pointer, bytes, alignment, mode, ...)                                   \
    if (mini::sim::is_inspected()) [[unlikely]]                                           \
    mini::sim::tell::access({const_cast<const void*>(pointer), static_cast<size_t>(bytes), \
                             alignment, mini::sim::Mode::mode,                            \
                             MINI_CALL __VA_OPT__(, ) __VA_ARGS__})

constexpr int kOrder = __ATOMIC_SEQ_CST;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define MINI_HOOKS_OF(kind, n, alignment)                                                      \
    void __tsan_##kind##read##n(void* p) { MINI_TELL(p, n, alignment, kRead); }                \
    void __tsan_##kind##write##n(void* p) { MINI_TELL(p, n, alignment, kWrite); }              \
    void __tsan_##kind##volatile_read##n(void* p) { MINI_TELL(p, n, alignment, kRead, true); } \
    void __tsan_##kind##volatile_write##n(void* p) { MINI_TELL(p, n, alignment, kWrite, true); } \
    void __tsan_##kind##read_write##n(void* p) {                                               \
        MINI_TELL(p, n, alignment, kRead);                                                     \
        MINI_TELL(p, n, alignment, kWrite);                                                    \
    }
#define MINI_HOOKS(n) MINI_HOOKS_OF(, n, n) MINI_HOOKS_OF(unaligned_, n, 1)
MINI_HOOKS(1) MINI_HOOKS(2) MINI_HOOKS(4) MINI_HOOKS(8) MINI_HOOKS(16)

void __tsan_read_range(void* p, unsigned long n) { MINI_TELL(p, n, 1, kRead); }
void __tsan_write_range(void* p, unsigned long n) { MINI_TELL(p, n, 1, kWrite); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define MINI_COPY(name)                                          \
    void* __tsan_##name(void* to, const void* from, size_t n) {  \
        MINI_TELL(from, n, 1, kRead);                            \
        MINI_TELL(to, n, 1, kWrite);                             \
        return std::name(to, from, n);                           \
    }
MINI_COPY(memcpy)
MINI_COPY(memmove)
void* __tsan_memset(void* to, int value, size_t n) {
    MINI_TELL(to, n, 1, kWrite);
    return std::memset(to, value, n);
}

// One function for each size of an atomic operation; T is the type of its values.
#define MINI_ATOMIC(bits, result, name, parameters, ...) \
    result __tsan_atomic##bits##_##name parameters { __VA_ARGS__; }
#define MINI_ATOMIC_CHANGE(bits, T, name) \
    MINI_ATOMIC(bits, T, name, (volatile T* p, T v, int), return __atomic_##name(p, v, kOrder))
#define MINI_ATOMICS(bits, T)                                                                    \
    MINI_ATOMIC(bits, T, load, (const volatile T* p, int), return __atomic_load_n(p, kOrder))    \
    MINI_ATOMIC(bits, void, store, (volatile T* p, T v, int), __atomic_store_n(p, v, kOrder))    \
    MINI_ATOMIC(bits, T, exchange, (volatile T* p, T v, int),                                    \
                return __atomic_exchange_n(p, v, kOrder))                                        \
    MINI_ATOMIC_CHANGE(bits, T, fetch_add) MINI_ATOMIC_CHANGE(bits, T, fetch_sub)                \
    MINI_ATOMIC_CHANGE(bits, T, fetch_and) MINI_ATOMIC_CHANGE(bits, T, fetch_or)                 \
    MINI_ATOMIC_CHANGE(bits, T, fetch_xor) MINI_ATOMIC_CHANGE(bits, T, fetch_nand)               \
    MINI_ATOMIC(bits, int, compare_exchange_strong, (volatile T* p, T* seen, T v, int, int),     \
                return __atomic_compare_exchange_n(p, seen, v, false, kOrder, kOrder))           \
    MINI_ATOMIC(bits, int, compare_exchange_weak, (volatile T* p, T* seen, T v, int, int),       \
                return __atomic_compare_exchange_n(p, seen, v, true, kOrder, kOrder))            \
    MINI_ATOMIC(bits, T, compare_exchange_val, (volatile T* p, T seen, T v, int, int),           \
                __atomic_compare_exchange_n(p, &seen, v, false, kOrder, kOrder); return seen)
MINI_ATOMICS(8, uint8_t) MINI_ATOMICS(16, uint16_t)
MINI_ATOMICS(32, uint32_t) MINI_ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(kOrder); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(kOrder); }

}  // extern "C"

// Before an access to an array with an index that is too large or negative, kernels call this
// (-fsanitize=bounds): accesses outside of a thread's own arrays, and from one shared array into
// another. Builds with sanitizers have one of their own.
#ifndef MINI_SANITIZED
namespace {

// What the compiler says of a type: an integer has 2^(info / 2) bits, and a sign if info is odd.
struct Type {
    uint16_t kind, info;
    char name[1];  // up to a zero
};
struct Access {
    const char* file;
    uint32_t line, column;
    const Type *array, *index;
};

}  // namespace

extern "C" void __ubsan_handle_out_of_bounds(const Access* access, uintptr_t index) {
    if (!mini::sim::is_inspected()) return;
    const int unused = 64 - (1 << (access->index->info >> 1));
    const bool is_signed = (access->index->info & 1) != 0;
    mini::sim::tell::index(is_signed ? static_cast<int64_t>(index << unused) >> unused
                                     : static_cast<int64_t>(index),
                           access->array->name, MINI_CALL);
}
#endif
