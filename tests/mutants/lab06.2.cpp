// --- axes-swapped
// threadIdx.x counts rows, as in the naive kernel.
// region: libmini/kernels/cuda/matmul_naive.cu 2
    multiply_row_by_column(p, corner.row + threadIdx.x, corner.col + threadIdx.y);

// --- guard-with-and
// Threads past one edge only compute.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows && col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
    write(p, row, col, total);

// --- no-guard
// Threads past the edges read the factors.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
    write(p, row, col, total);

// --- overwrites
// The result replaces out, even if it should be added.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];
    p.out[row * p.b.cols + col] = total;

// --- rows-of-a-contiguous
// The strides of the factors are not used.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.cols + k] * p.b.data[k * p.b.cols + col];
    write(p, row, col, total);

// --- sum-in-memory
// The sum is kept in out, and each step reads and writes it.
// region: libmini/kernels/cuda/matmul_naive.cu 1
    if (row >= p.a.rows || col >= p.b.cols) return;
    float& total = p.out[row * p.b.cols + col];
    if (!p.accumulate) total = 0.0f;
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += p.a.data[row * p.a.row_step + k * p.a.col_step] *
                 p.b.data[k * p.b.row_step + col * p.b.col_step];

// --- warp-of-8-by-4
// A warp computes 8 rows of 4 columns.
// region: libmini/kernels/cuda/matmul_naive.cu 2
    multiply_row_by_column(p, corner.row + threadIdx.x % kHigh,
                           corner.col + threadIdx.x / kHigh + threadIdx.y * 4);
