// The determinant adds the two products.
// region: libmini/extras/scaling/link_fit.cpp 2
const double determinant = sums.mm * sums.bb + sums.mb * sums.mb;
return {.alpha = (sums.m * sums.bb - sums.b * sums.mb) / determinant,
        .beta = (sums.b * sums.mm - sums.m * sums.mb) / determinant};
