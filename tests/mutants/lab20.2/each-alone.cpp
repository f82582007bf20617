// Each of the two is fitted as if the other were 0.
// region: libmini/extras/scaling/link_fit.cpp 2
return {.alpha = sums.m / sums.mm, .beta = sums.b / sums.bb};
