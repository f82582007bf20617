// The share below a time leaves out the time itself.
// region: libmini/extras/scaling/stragglers.cpp 1
double before = 0;
for (size_t i = 0; i < sorted.size(); ++i) {
    const double until = at_most(static_cast<double>(i) / m);
    mean += sorted[i] * (until - before);
    before = until;
}
