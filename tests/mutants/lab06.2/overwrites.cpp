// The result replaces out, even if it should be added.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
    p.out[row * p.b.cols + col] = total;
