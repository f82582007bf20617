// Of equal maxima the last is taken.
// region: libmini/kernels/cpu/reduce.cpp
            for (int64_t j = 1; j < cols && !std::isnan(row[best]); ++j)
                if (row[j] >= row[best] || std::isnan(row[j])) best = j;
