// The probabilities add up to more than 1.
// region: libmini/extras/scaling/stragglers.cpp 1
for (size_t i = 0; i < sorted.size(); ++i)
    mean += sorted[i] * at_most(static_cast<double>(i + 1) / m);
