// CUDA's vector types: char1 to double4, and make_char1() to make_double4().
//
// A vector of up to 16 bytes is loaded or stored in one access: copies use a compiler vector
// type, which the instrumentation reports as one access.

#pragma once

// A function of device code: always inlined, so that the checker sees the source line of the
// kernel.
#define MINI_WORD inline __attribute__((always_inline))

// clang-format off
#define MINI_WHOLE(name, bytes, type)                                              \
    using Whole [[gnu::vector_size(bytes), gnu::may_alias]] = type;                \
    name() = default;                                                              \
    MINI_WORD name(const name& other) { *this = other; }                           \
    MINI_WORD name& operator=(const name& other) {                                 \
        *reinterpret_cast<Whole*>(this) = *reinterpret_cast<const Whole*>(&other); \
        return *this;                                                              \
    }
#define MINI_VECTOR_2(name, bytes, type)                                           \
    struct alignas(bytes) name {                                                   \
        type x, y;                                                                 \
        MINI_WHOLE(name, bytes, type)                                              \
        MINI_WORD name(type x, type y = 0) : x(x), y(y) {}                         \
    };                                                                             \
    MINI_WORD name make_##name(type x, type y) { return {x, y}; }
#define MINI_VECTOR_4(name, bytes, type)                                           \
    struct alignas(bytes) name {                                                   \
        type x, y, z, w;                                                           \
        MINI_WHOLE(name, bytes, type)                                              \
        MINI_WORD name(type x, type y = 0, type z = 0, type w = 0)                 \
            : x(x), y(y), z(z), w(w) {}                                            \
    };                                                                             \
    MINI_WORD name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
// The types that no instruction loads as a whole.
#define MINI_PLAIN_VECTORS(name, type)                                             \
    struct name##1 { type x; };                                                    \
    struct name##3 { type x, y, z; };                                              \
    MINI_WORD name##1 make_##name##1(type x) { return {x}; }                       \
    MINI_WORD name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }
#define MINI_VECTORS(name, bytes, type)                                            \
    MINI_PLAIN_VECTORS(name, type)                                                 \
    MINI_VECTOR_2(name##2, 2 * bytes, type)                                        \
    MINI_VECTOR_4(name##4, 4 * bytes, type)
#define MINI_LONG_VECTORS(name, type)                                              \
    MINI_PLAIN_VECTORS(name, type)                                                 \
    MINI_VECTOR_2(name##2, 16, type)                                               \
    struct alignas(16) name##4 { type x, y, z, w; };                               \
    MINI_WORD name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
MINI_VECTORS(char, 1, signed char)
MINI_VECTORS(uchar, 1, unsigned char)
MINI_VECTORS(short, 2, short)
MINI_VECTORS(ushort, 2, unsigned short)
MINI_VECTORS(int, 4, int)
MINI_VECTORS(uint, 4, unsigned)
MINI_VECTORS(float, 4, float)
MINI_LONG_VECTORS(long, long)
MINI_LONG_VECTORS(ulong, unsigned long)
MINI_LONG_VECTORS(longlong, long long)
MINI_LONG_VECTORS(ulonglong, unsigned long long)
MINI_LONG_VECTORS(double, double)
#undef MINI_LONG_VECTORS
#undef MINI_VECTORS
#undef MINI_PLAIN_VECTORS
#undef MINI_VECTOR_4
#undef MINI_VECTOR_2
#undef MINI_WHOLE
// clang-format on
