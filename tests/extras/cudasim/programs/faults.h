// Small programs with one fault each, and without it if `wrong` is false: faults_of_threads.cu,
// faults_of_memory.cu and faults_of_host.cu, which make one program. `faults wrong` runs all with
// the fault, `faults right` without it; `faults list` prints the first line and the kind of each.
//
// a has n = 256 numbers from 0 up; b has n numbers that were never written.

#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

struct Fault {
    using Kernel = void (*)(int* a, int* b, int n, bool wrong);
    Fault(const char* kind, const char* file, int line, Kernel run, int blocks = 0,
          int threads = 0)
        : kind(kind), file(file), line(line), run(run), blocks(blocks), threads(threads) {
        all().push_back(this);
    }
    static std::vector<Fault*>& all() {
        static std::vector<Fault*> faults;
        return faults;
    }
    const char *kind, *file;
    int line;
    Kernel run;  // a kernel, or a function of the host if there are no blocks
    int blocks, threads;
};

#define FAULT(kind, name, blocks, threads)                                      \
    __global__ void name(int* a, int* b, int n, bool wrong);                    \
    static Fault name##_fault(kind, __FILE__, __LINE__, name, blocks, threads); \
    __global__ void name(int* a, int* b, int n, bool wrong)
// With a kernel of its own, so that findings in it lie on the fault's first line.
#define HOST_FAULT(kind, name)                                                           \
    __global__ void name##_kernel(int* x, int n, bool reads) {                           \
        for (int i = I; i < n; i += gridDim.x * blockDim.x)                              \
            x[i] = (reads ? x[i] : 0) + 1;                                               \
    }                                                                                    \
    static void name(decltype(name##_kernel)* kernel, int* a, int* b, int n,             \
                     bool wrong);                                                        \
    static Fault name##_fault(                                                           \
        kind, __FILE__, __LINE__,                                                        \
        [](int* a, int* b, int n, bool wrong) { name(name##_kernel, a, b, n, wrong); }); \
    static void name(decltype(name##_kernel)* kernel, int* a, int* b, int n, bool wrong)
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
