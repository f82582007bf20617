// The gradient of the bias is that of the first image.
    sum(dbias, g, O, M, 1);
