// Threads past the end also write.
// region: libmini/kernels/cuda/relu_ladder.cu 1
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    out[i] = relu(x[i]);
