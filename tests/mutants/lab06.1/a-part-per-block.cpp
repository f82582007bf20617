// A block takes adjacent elements; its threads stride over them.
// region: libmini/kernels/cuda/relu_ladder.cu 2
    const int64_t part = (n + gridDim.x - 1) / gridDim.x;
    const int64_t end = min(part * (blockIdx.x + 1), n);
    for (int64_t i = part * blockIdx.x + threadIdx.x; i < end; i += blockDim.x)
        out[i] = relu(x[i]);
