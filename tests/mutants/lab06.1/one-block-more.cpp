// There is always one block more than needed.
// region: libmini/kernels/cuda/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>(n / kThreads + 1);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, stream, out, x, n);
