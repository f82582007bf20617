// Textures and surfaces.

#include <cmath>
#include <vector>

#include "check.h"

constexpr int kWidth = 5, kHeight = 3;

// Fetches at the points (x[i], y[i]).
template <typename T>
__global__ void fetch(cudaTextureObject_t from, const float* x, const float* y, T* to) {
    const int i = threadIdx.x;
    to[i] = tex2D<T>(from, x[i], y[i]);
}

__global__ void fetch_linear(cudaTextureObject_t from, float* to) {
    to[threadIdx.x] = tex1Dfetch<float>(from, static_cast<int>(threadIdx.x) - 1);
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    const int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(2 * surf2Dread<float>(from, 4 * x, y), to, 4 * y, x);
}

// An array of kWidth x kHeight elements.
template <typename T>
cudaResourceDesc array_of(const std::vector<T>& values) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMallocArray(&resource.res.array.array, &format, kWidth, kHeight) == 0);
    CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, values.data(),
                              kWidth * sizeof(T), kWidth * sizeof(T), kHeight,
                              cudaMemcpyHostToDevice) == 0);
    return resource;
}

template <typename T>
std::vector<T> fetched(const cudaResourceDesc& from, const cudaTextureDesc& how,
                       const std::vector<float>& x, const std::vector<float>& y) {
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr) == 0);
    T* to;
    cudaMalloc(&to, x.size() * sizeof(T));
    fetch<T><<<1, x.size()>>>(texture, on_device(x), on_device(y), to);
    CHECK(cudaDestroyTextureObject(texture) == 0);  // before the launch has run
    return on_host(to, x.size());
}

int main() {
    std::vector<float> values(kWidth * kHeight);
    for (int i = 0; i < kWidth * kHeight; ++i) values[i] = static_cast<float>(i * i);
    const auto value = [&](int x, int y) { return values[y * kWidth + x]; };
    const cudaResourceDesc array = array_of(values);

    // Points: the texel around each; clamped outside.
    const std::vector<float> x = {0.0f, 1.5f, 4.9f, -3.0f, 7.0f}, y = {0, 1.2f, 2, 9, -1};
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(fetched<float>(array, how, x, y) ==
          std::vector<float>(
              {value(0, 0), value(1, 1), value(4, 2), value(0, 2), value(4, 0)}));
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    CHECK(fetched<float>(array, how, x, y)[3] == 0);

    // The linear filter: a texel's value is at its middle.
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    const std::vector<float> linear =
        fetched<float>(array, how, {0.5f, 1.0f, 2.75f, 0.0f}, {0.5f, 0.5f, 2.0f, 1.5f});
    CHECK(linear[0] == value(0, 0));
    CHECK(linear[1] == (value(0, 0) + value(1, 0)) / 2);
    CHECK(std::abs(linear[2] - (0.75f * (value(2, 1) + value(2, 2)) +
                                0.25f * (value(3, 1) + value(3, 2))) /
                                   2) < 1e-4f);
    CHECK(linear[3] == value(0, 1));

    // Normalised coordinates, repeated or mirrored.
    how.filterMode = cudaFilterModePoint;
    how.normalizedCoords = 1;
    how.addressMode[0] = cudaAddressModeWrap, how.addressMode[1] = cudaAddressModeMirror;
    CHECK(fetched<float>(array, how, {0.5f, 1.5f, -0.1f}, {0.5f, 1.1f, -0.4f}) ==
          std::vector<float>({value(2, 1), value(2, 2), value(4, 1)}));

    // Bytes as floats up to 1, and vectors.
    std::vector<uchar4> colors(kWidth * kHeight);
    for (int i = 0; i < kWidth * kHeight; ++i) colors[i] = make_uchar4(i, 51, 0, 255);
    how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    const float4 color = fetched<float4>(array_of(colors), how, {2}, {1})[0];
    CHECK(color.x == 7 / 255.0f && color.y == 0.2f && color.z == 0 && color.w == 1);
    how.readMode = cudaReadModeElementType;
    CHECK(fetched<uchar4>(array_of(colors), how, {2}, {1})[0].x == 7);

    // Pitched and linear memory.
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {on_device(values), cudaCreateChannelDesc<float>(), 2, 2,
                           kWidth * sizeof(float)};
    CHECK(fetched<float>(pitched, how, {1}, {1})[0] == value(1, 1));
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear = {on_device(values), cudaCreateChannelDesc<float>(),
                         values.size() * sizeof(float)};
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &memory, &how, nullptr) == 0);
    float *to, got[20];
    cudaMalloc(&to, sizeof got);
    fetch_linear<<<1, 20>>>(texture, to);
    cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
    CHECK(got[0] == 0 && got[1] == values[0] && got[15] == values[14] && got[16] == 0);

    // Surfaces.
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc turned = array;
    cudaMallocArray(&turned.res.array.array, &format, kHeight, kWidth,
                    cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t from, into;
    cudaCreateSurfaceObject(&from, &array), cudaCreateSurfaceObject(&into, &turned);
    transpose<<<1, dim3(kWidth, kHeight)>>>(from, into);
    cudaDeviceSynchronize();
    cudaDestroySurfaceObject(from), cudaDestroySurfaceObject(into);
    CHECK(fetched<float>(turned, how, {1, 2}, {4, 3}) ==
          std::vector<float>({2 * value(4, 1), 2 * value(3, 2)}));
    CHECK(cudaFreeArray(turned.res.array.array) == 0);
    printf("%d failures\n", failures);
    return failures;
}
