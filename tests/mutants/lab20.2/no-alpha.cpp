// A line through the origin: the delay is in the rate.
// region: libmini/extras/scaling/link_fit.cpp 2
return {.alpha = 0, .beta = sums.b / sums.bb};
