// The kernel runs in the default stream.
// region: libmini/kernels/cuda/relu_ladder.cu 3
    const auto grid = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    launch(relu_each_kernel, {.grid = grid, .block = kThreads}, nullptr, out, x, n);
