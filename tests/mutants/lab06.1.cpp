// --- a-part-per-block
// A block takes adjacent elements; its threads stride over them.
// region: labs/06-cuda-kernels/relu_ladder.cu 2
    const int64_t part = (n + gridDim.x - 1) / gridDim.x;
    const int64_t end = min(part * (blockIdx.x + 1), n);
    for (int64_t i = part * blockIdx.x + threadIdx.x; i < end; i += blockDim.x)
        out[i] = relu(x[i]);

// --- a-run-per-thread
// A thread takes adjacent elements.
// region: labs/06-cuda-kernels/relu_ladder.cu 2
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    const int64_t run = (n + threads - 1) / threads;
    for (int64_t i = thread * run; i < min((thread + 1) * run, n); ++i)
        out[i] = relu(x[i]);

// --- block-ignored
// Every block computes the first elements.
// region: labs/06-cuda-kernels/relu_ladder.cu 1
    const int64_t i = threadIdx.x;
    if (i < n) out[i] = relu(x[i]);

// --- blocks-side-by-side
// Adjacent threads take elements gridDim.x apart.
// region: labs/06-cuda-kernels/relu_ladder.cu 1
    const int64_t i = int64_t{threadIdx.x} * gridDim.x + blockIdx.x;
    if (i < n) out[i] = relu(x[i]);

// --- from-the-end
// Thread t computes element n - 1 - t.
// region: labs/06-cuda-kernels/relu_ladder.cu 1
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = relu(x[n - 1 - i]);

// --- grid-rounds-down
// The number of blocks is rounded down.
// region: labs/06-cuda-kernels/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>(n / kThreads);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);

// --- guard-off-by-one
// The guard lets element n pass.
// region: labs/06-cuda-kernels/relu_ladder.cu 1
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = relu(x[i]);

// --- no-guard
// Threads past the end also write.
// region: labs/06-cuda-kernels/relu_ladder.cu 1
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    out[i] = relu(x[i]);

// --- one-block-more
// There is always one block more than needed.
// region: labs/06-cuda-kernels/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>(n / kThreads + 1);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);

// --- stream-ignored
// The kernel runs in the default stream.
// region: labs/06-cuda-kernels/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, nullptr, out, x, n);

// --- stride-of-a-block
// The step is the size of a block, so blocks compute the same elements.
// region: labs/06-cuda-kernels/relu_ladder.cu 2
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t i = thread; i < n; i += blockDim.x) out[i] = relu(x[i]);
