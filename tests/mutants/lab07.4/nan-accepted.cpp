// A fraction is refused when it is 0 or less, which not a number is not.
// region: libmini/data/partition.cpp 1
    double total = 0;
    for (const double size : sizes) {
        if (size <= 0)
            throw UsageError(concat("DataPartitioner: the fractions ", sizes,
                                    " must all be positive"));
        total += size;
    }
    if (total > 1 + kRoundingSlack)
        throw UsageError(concat("DataPartitioner: the fractions ", sizes, " sum to ",
                                total, " but must not sum to more than 1"));
