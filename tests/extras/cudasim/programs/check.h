// What the programs share: each check prints a line if it fails.

#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#define CHECK(condition) \
    if (!(condition)) printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), ++failures

static int failures = 0;

// In memory of the device, freed at the end of the program.
template <typename T>
T* on_device(const std::vector<T>& values) {
    T* to;
    cudaMalloc(&to, values.size() * sizeof(T));
    cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}
template <typename T>
std::vector<T> on_host(const T* from, size_t size) {
    std::vector<T> values(size);
    cudaMemcpy(values.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
}
