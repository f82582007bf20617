// Every measurement counts as one message.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    const double m = 1 / one.seconds, b = one.bytes / one.seconds;
    sums.mm += m * m;
    sums.mb += m * b;
    sums.bb += b * b;
    sums.m += m;
    sums.b += b;
}
