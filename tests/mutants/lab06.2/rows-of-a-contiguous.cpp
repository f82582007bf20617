// The strides of the factors are not used.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.cols + k] * p.b.data[k * p.b.cols + col];
    write(p, row, col, total);
