// --- equal-strides
// Dimensions with equal strides are merged.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- extents-added
// The extents of merged dimensions are added.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent += extent;
    else
        dimensions_.push_back({extent, strides});

// --- first-array-decides
// The strides of the first array decide alone.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    if (!dimensions_.empty() &&
        strides[0] == dimensions_.back().extent * dimensions_.back().strides[0])
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- first-step-for-all
// The step of the first array is used for all.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[0];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }

// --- index-ignored
// Every piece begins at the front of its run.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = 0 * index;
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }

// --- index-without-step
// The index within a run is added without its step.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index;
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }

// --- innermost-compared
// The innermost dimension is compared, not the last one.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.front();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- never-divided
// The number of the run is not divided by the extents.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
    }

// --- never-merged
// No dimensions are merged.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    dimensions_.push_back({extent, strides});

// --- no-remainder
// The whole rest of the number is the index of each dimension.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k) offsets[k] += run * dimension.strides[k];
        run /= dimension.extent;
    }

// --- one-array-suffices
// Dimensions merge if the strides of any array allow it.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = false;
    for (size_t k = 0; !dimensions_.empty() && k < Arrays; ++k)
        merges |= strides[k] == dimensions_.back().extent * dimensions_.back().strides[k];
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- outer-extent
// The extent of the outer dimension is compared.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- outer-strides
// A merged dimension has the outer strides.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back() = {dimensions_.back().extent * extent, strides};
    else
        dimensions_.push_back({extent, strides});

// --- outermost-first
// The runs are numbered with the outermost index changing fastest.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = dimensions_.size(); d-- > 1;) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }

// --- second-dimension-only
// Only dimension 1 is added, as if there were no others.
// region: libmini/kernels/cpu/strided.cpp 2
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    if (dimensions_.size() > 1)
        for (size_t k = 0; k < Arrays; ++k) offsets[k] += run * dimensions_[1].strides[k];

// --- size-one-kept
// A dimension of size 1 is treated like any other.
// region: libmini/kernels/cpu/strided.cpp 1
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});

// --- zero-not-merged
// Repeated elements are never merged.
// region: libmini/kernels/cpu/strided.cpp 1
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] != 0 && strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});
