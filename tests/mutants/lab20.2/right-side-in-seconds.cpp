// The sums of the right side are not divided by the times.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    const double m = one.messages / one.seconds, b = one.bytes / one.seconds;
    sums.mm += m * m;
    sums.mb += m * b;
    sums.bb += b * b;
    sums.m += one.messages;
    sums.b += one.bytes;
}
