// Conversions between element types, and arrays filled with one value. A thread takes
// four adjacent elements, reads each once and writes each once.

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/element_types.hpp"

namespace mini::kernels::cuda {
namespace {

template <typename To, typename From>
struct Convert {
    static constexpr int kWidth = 4;
    To* out;
    const From* x;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        const auto values = load<kWidth>(x + i);
        Pack<To, kWidth> result;
        for (int k = 0; k < kWidth; ++k) result.at[k] = narrow<To>(widen(values.at[k]));
        store(out + i, result);
    }
};

template <typename T>
struct FillWith {
    static constexpr int kWidth = 4;
    T* out;
    double value;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        Pack<T, kWidth> result;
        for (int k = 0; k < kWidth; ++k) result.at[k] = narrow<T>(value);
        store(out + i, result);
    }
};

}  // namespace

void convert(void* out, const void* x, int64_t n, ElementType to, ElementType from,
             cudaStream_t stream) {
    with_type(to, [&]<typename To>(To) {
        with_type(from, [&]<typename From>(From) {
            auto* const target = static_cast<To*>(out);
            const auto* const source = static_cast<const From*>(x);
            each(Convert<To, From>{target, source}, n, aligned<4>(target, source),
                 stream);
        });
    });
}

void fill_elements(void* out, double value, int64_t n, ElementType type,
                   cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        auto* const target = static_cast<T*>(out);
        each(FillWith<T>{target, value}, n, aligned<4>(target), stream);
    });
}

}  // namespace mini::kernels::cuda
