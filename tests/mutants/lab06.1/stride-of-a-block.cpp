// The step is the size of a block, so blocks compute the same elements.
// region: libmini/kernels/cuda/relu_ladder.cu 2
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t i = thread; i < n; i += blockDim.x) out[i] = relu(x[i]);
