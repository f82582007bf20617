// Fractions may not exceed the whole by a rounding, so nine times 1/9 are refused.
// region: libmini/data/partition.cpp 1
    double total = 0;
    for (const double size : sizes) {
        if (!(size > 0))
            throw UsageError(concat("DataPartitioner: the fractions ", sizes,
                                    " must all be positive"));
        total += size;
    }
    if (!(total <= 1))
        throw UsageError(concat("DataPartitioner: the fractions ", sizes, " sum to ",
                                total, " but must not sum to more than 1"));
