// Thread t computes element n - 1 - t.
// region: libmini/kernels/cuda/relu_ladder.cu 1
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = relu(x[n - 1 - i]);
