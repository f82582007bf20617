// half and bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "check.h"

__global__ void axpy(half a, const half* x, half* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

__global__ void pairs(half2* x, half* sum) {
    x[threadIdx.x] = __hadd2(x[threadIdx.x], __float2half2_rn(0.5f));
    atomicAdd(sum, __low2half(x[threadIdx.x]));
    atomicAdd(sum, __float2half(1.0f));
}

template <typename T>
unsigned bits(T value) {
    unsigned short all;
    memcpy(&all, &value, 2);
    return all;
}

int main() {
    // Rounded to nearest even; infinite from 65520 on; the smallest is 2^-24.
    CHECK(bits(__float2half(1.0f)) == 0x3c00 && bits(__float2half(-2.5f)) == 0xc100);
    CHECK(bits(__float2half(65519.0f)) == 0x7bff &&
          bits(__float2half(65520.0f)) == 0x7c00);
    CHECK(bits(__float2half(0x1p-24f)) == 1 && bits(__float2half(0x1p-25f)) == 0);
    CHECK(bits(__float2half(2049.0f)) == 0x6800 && bits(__float2half(2051.0f)) == 0x6802);
    CHECK(__half2float(__float2half(0.1f)) == 0.0999755859375f);
    CHECK(bits(__float2bfloat16(1.0f)) == 0x3f80 &&
          bits(__float2bfloat16(1.00390625f)) == 0x3f80);
    CHECK(bits(__float2bfloat16(1.01171875f)) == 0x3f82);
    for (unsigned i = 0; i < 0x7c00; ++i) {
        const auto all = static_cast<unsigned short>(i);
        half h;
        memcpy(&h, &all, 2);
        if (bits(__float2half(__half2float(h))) != i)
            CHECK(!"a half of each bit pattern");
    }

    constexpr int n = 100;
    half x[n], *dx, *dy;
    for (int i = 0; i < n; ++i) x[i] = __float2half(i);
    cudaMalloc(&dx, sizeof x), cudaMalloc(&dy, sizeof x);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, x, sizeof x, cudaMemcpyHostToDevice);
    axpy<<<4, 32>>>(__float2half(2.0f), dx, dy, n);
    cudaMemcpy(x, dy, sizeof x, cudaMemcpyDeviceToHost);
    CHECK(__half2float(x[99]) == 297 && x[1] > x[0] && x[1] == half(3.0f));
    cudaMemset(dy, 0, sizeof x);
    pairs<<<1, 8>>>(reinterpret_cast<half2*>(dx), dy);
    cudaMemcpy(x, dy, sizeof x, cudaMemcpyDeviceToHost);
    CHECK(__half2float(x[0]) == 2 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7) + 8 * 1.5f);
    printf("%d failures\n", failures);
    return failures;
}
