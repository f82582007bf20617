// --- bias-of-the-first-image
// The gradient of the bias is that of the first image.
    sum(dbias, g, O, M, 1);

// --- channels-last
// The gradient of the bias reads g as (N, M, O).
    const auto of_positions = scratch(M * O);
    sum(of_positions.get(), g, 1, in.N, M * O);
    sum(dbias, of_positions.get(), 1, M, O);
