// The number of blocks is rounded down.
// region: libmini/kernels/cuda/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>(n / kThreads);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);
