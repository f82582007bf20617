// The sum is kept in out, and each step reads and writes it.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float& total = p.out[row * p.b.cols + col];
    if (!p.accumulate) total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
