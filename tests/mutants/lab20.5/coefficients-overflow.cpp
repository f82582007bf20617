// Factorials instead of their logarithms: infinite from 171 on.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = k; j <= n; ++j) {
    const double ways =
        std::tgamma(n + 1.0) / std::tgamma(j + 1.0) / std::tgamma(n - j + 1.0);
    sum += ways * std::pow(p, j) * std::pow(1 - p, n - j);
}
