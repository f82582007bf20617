// The number of ways to choose j of n is forgotten.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = k; j <= n; ++j) sum += std::exp(j * std::log(p) + (n - j) * std::log1p(-p));
