// Adjacent threads take elements gridDim.x apart.
// region: libmini/kernels/cuda/relu_ladder.cu 1
    const int64_t i = int64_t{threadIdx.x} * gridDim.x + blockIdx.x;
    if (i < n) out[i] = relu(x[i]);
