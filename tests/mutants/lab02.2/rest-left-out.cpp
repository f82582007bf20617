// The numbers after the last complete row of 32 are left out.
// region: libmini/kernels/cpu/reduce.cpp 2
    sum_rows(lanes, x, n / kFoldedColumns, kFoldedColumns, scratch);
    for (const float lane : lanes) total += lane;
