// NaN is never the maximum.
// region: libmini/kernels/cpu/reduce.cpp
            for (int64_t j = 1; j < cols; ++j)
                if (row[j] > row[best]) best = j;
