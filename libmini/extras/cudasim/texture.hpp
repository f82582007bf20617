// Textures and surfaces of one or two dimensions. Each texel that a fetch needs is one load of the
// kernel. The weights of the linear filter have all bits of a float; those of a GPU have 8.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/language.hpp"
#include "libmini/extras/cudasim/runtime.hpp"

// clang-format off
enum cudaTextureAddressMode {
    cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat
};
enum cudaResourceType {
    cudaResourceTypeArray, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeTrap = 2 };
enum : unsigned { cudaArrayDefault = 0, cudaArraySurfaceLoadStore = 2 };
struct cudaChannelFormatDesc {
    int x, y, z, w;  // bits of each channel
    cudaChannelFormatKind f;
};
struct cudaArray {
    void* data;
    size_t pitch, width, height;  // pitch: bytes from row to row
    cudaChannelFormatDesc desc;

    MINI_UNCHECKED size_t texel_bytes() const { return size_t(desc.x + desc.y + desc.z + desc.w) / 8; }
    MINI_UNCHECKED void* at(size_t byte, size_t row) const {
        return static_cast<std::byte*>(data) + row * pitch + byte;
    }
};
using cudaArray_t = cudaArray*;
struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct {
            void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int normalizedCoords;
};
// clang-format on
using cudaTextureObject_t = unsigned long long;  // the address of a Texture
using cudaSurfaceObject_t = unsigned long long;

namespace mini::cuda {

struct Texture {
    cudaArray in;
    cudaTextureDesc how;

    // Returns the index of an existing texel in direction x or y, or -1 for the border.
    MINI_UNCHECKED int index(int i, size_t texels, cudaTextureAddressMode mode) const {
        const int size = static_cast<int>(texels);
        const auto modulo = [](int a, int b) { return (a % b + b) % b; };
        if (mode == cudaAddressModeBorder) return i < 0 || i >= size ? -1 : i;
        if (mode == cudaAddressModeClamp || how.normalizedCoords == 0)
            return std::clamp(i, 0, size - 1);
        if (mode == cudaAddressModeWrap) return modulo(i, size);
        return std::min(modulo(i, 2 * size), 2 * size - 1 - modulo(i, 2 * size));
    }
};

// Not instrumented, because it reads the host's Texture: it tells the checker of the texel, as a load
// of the instruction at `call`. Returns zeros for the border.
template <typename T>
MINI_UNCHECKED T texel(const Texture& of, int x, int y, const void* call) {
    const int column = of.index(x, of.in.width, of.how.addressMode[0]);
    const int row = of.index(y, of.in.height, of.how.addressMode[1]);
    if (column < 0 || row < 0) return {};
    const size_t bytes = of.in.texel_bytes();
    const void* const at = of.in.at(size_t(column) * bytes, size_t(row));
    if (sim::is_inspected())
        sim::tell::access({at, bytes, bytes, sim::Mode::kRead, call});
    if (of.how.readMode == cudaReadModeElementType) return *static_cast<const T*>(at);
    T value;
    for (size_t i = 0; i < sizeof(T) / sizeof(float); ++i)
        reinterpret_cast<float*>(&value)[i] =
            of.in.desc.x == 8 ? static_cast<const uint8_t*>(at)[i] / 255.0f
                              : static_cast<const uint16_t*>(at)[i] / 65535.0f;
    return value;
}

// Returns (1 - part) a + part b, of floats.
template <typename T>
MINI_UNCHECKED T between(T a, T b, float part) {
    for (size_t i = 0; i < sizeof(T) / sizeof(float); ++i) {
        float& to = reinterpret_cast<float*>(&a)[i];
        to += part * (reinterpret_cast<const float*>(&b)[i] - to);
    }
    return a;
}

}  // namespace mini::cuda

template <typename T>
MINI_UNCHECKED T tex2D(cudaTextureObject_t object, float x, float y) {
    const void* const call = MINI_CALL;
    const auto& of = *reinterpret_cast<const mini::cuda::Texture*>(object);
    const bool scales = of.how.normalizedCoords != 0;
    const float half = of.how.filterMode == cudaFilterModeLinear ? 0.5f : 0;
    x = (scales ? x * static_cast<float>(of.in.width) : x) - half;
    y = (scales ? y * static_cast<float>(of.in.height) : y) - half;
    const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
    const auto at = [&](int right, int up) {
        return mini::cuda::texel<T>(of, i + right, j + up, call);
    };
    if (half == 0) return at(0, 0);
    const float right = x - static_cast<float>(i), up = y - static_cast<float>(j);
    return mini::cuda::between(mini::cuda::between(at(0, 0), at(1, 0), right),
                               mini::cuda::between(at(0, 1), at(1, 1), right), up);
}
template <typename T>
MINI_UNCHECKED T tex1Dfetch(cudaTextureObject_t object, int x) {
    return mini::cuda::texel<T>(*reinterpret_cast<const mini::cuda::Texture*>(object), x,
                                0, MINI_CALL);
}

/// Returns the place of a surface's element; `x` is in bytes.
MINI_UNCHECKED inline void* surf2D(cudaSurfaceObject_t object, int x, int y) {
    const auto& of = *reinterpret_cast<const mini::cuda::Texture*>(object);
    return of.in.at(size_t(x), size_t(y));
}
template <typename T>
MINI_WORD void surf2Dwrite(T value, cudaSurfaceObject_t object, int x, int y,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    *static_cast<T*>(surf2D(object, x, y)) = value;
}
template <typename T>
MINI_WORD T surf2Dread(cudaSurfaceObject_t object, int x, int y,
                       cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    return *static_cast<T*>(surf2D(object, x, y));
}

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                           const cudaResourceDesc* from,
                                           const cudaTextureDesc* how, const void*) {
    const auto& [linear, pitched] = std::tie(from->res.linear, from->res.pitch2D);
    mini::cuda::Texture made{{linear.devPtr, 0, linear.sizeInBytes, 1, linear.desc},
                             *how};
    if (from->resType == cudaResourceTypeArray) made.in = *from->res.array.array;
    if (from->resType == cudaResourceTypePitch2D)
        made.in = {pitched.devPtr, pitched.pitchInBytes, pitched.width, pitched.height,
                   pitched.desc};
    if (from->resType == cudaResourceTypeLinear) {
        made.in.width /= made.in.texel_bytes();
        made.how.addressMode[0] = cudaAddressModeBorder;
    }
    if (how->filterMode == cudaFilterModeLinear &&
        how->readMode == cudaReadModeElementType &&
        made.in.desc.f != cudaChannelFormatKindFloat)
        return cudaErrorInvalidValue;
    *object = reinterpret_cast<unsigned long long>(new mini::cuda::Texture(made));
    return cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                           const cudaResourceDesc* from) {
    const cudaTextureDesc how = {};
    return cudaCreateTextureObject(object, from, &how, nullptr);
}

template <typename T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    const auto of = []<typename Channel>(Channel) {
        constexpr int bits = 8 * sizeof(Channel), all = 8 * sizeof(T);
        return cudaChannelFormatDesc{
            bits, all > bits ? bits : 0, all > 2 * bits ? bits : 0,
            all > 3 * bits ? bits : 0,
            std::is_floating_point_v<Channel> ? cudaChannelFormatKindFloat
            : std::is_signed_v<Channel>       ? cudaChannelFormatKindSigned
                                              : cudaChannelFormatKindUnsigned};
    };
    if constexpr (requires(T vector) { vector.x; })
        return of(T{}.x);
    else
        return of(T{});
}
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                                   size_t width, size_t height = 0, unsigned = 0) {
    *array = new cudaArray{nullptr, 0, width, std::max(height, size_t{1}), *desc};
    (*array)->pitch = width * (*array)->texel_bytes();
    return cudaMalloc(&(*array)->data, (*array)->pitch * (*array)->height);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
    const cudaError_t error = cudaFree(array->data);
    delete array;
    return error;
}
/// `x` and `width` are in bytes.
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y,
                                       const void* from, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2D(to->at(x, y), to->pitch, from, pitch, width, height, kind);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(to->at(x, y), from, bytes, kind);
}
