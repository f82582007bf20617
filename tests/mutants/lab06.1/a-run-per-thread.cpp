// A thread takes adjacent elements.
// region: libmini/kernels/cuda/relu_ladder.cu 2
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    const int64_t run = (n + threads - 1) / threads;
    for (int64_t i = thread * run; i < min((thread + 1) * run, n); ++i)
        out[i] = relu(x[i]);
