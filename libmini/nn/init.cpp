#include "libmini/nn/init.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/on_cpu.hpp"

namespace mini::nn::init {
namespace {

// Returns the product of the dimensions after out and in: a kernel's height times width.
int64_t receptive_field(const Tensor& weight) {
    check_shape(weight.dim() >= 2, "init: a weight needs two or more dimensions, got ",
                weight.shape());
    int64_t field = 1;
    // [lab04.3] Multiply the sizes of the dimensions after the second.
    for (int64_t d = 2; d < weight.dim(); ++d) field *= weight.size(d);
    // [lab04.3]
    return field;
}

// Computes in double, in PyTorch's order, so that the bounds are bitwise identical.
double xavier_std(const Tensor& weight, double gain) {
    // [lab04.3] Compute Xavier's standard deviation.
    return gain * std::sqrt(2.0 / static_cast<double>(fan_in(weight) + fan_out(weight)));
    // [lab04.3]
}

double kaiming_std(const Tensor& weight, const KaimingOptions& options) {
    // [lab04.3] Compute Kaiming's standard deviation, for the fan of the mode.
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return calculate_gain(options.nonlinearity, options.a) / std::sqrt(fan);
    // [lab04.3]
}

// The cumulative distribution function of the standard normal distribution.
double normal_cdf(double x) { return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0; }

// trunc_normal_ draws from the whole normal distribution if the probability between the
// bounds is greater than kMinInside.
constexpr double kMinInside = 0.3;

// Rejection sampling: `draw` fills a span, and returns for each number whether to keep
// the number. Rejected numbers are drawn again; each round draws numbers for all
// elements, as in PyTorch.
template <typename Draw>
void draw_until_kept(std::span<float> values, const Draw& draw) {
    std::vector<float> drawn(values.size());
    std::vector<bool> kept(values.size());
    do {
        const std::vector<bool> keep = draw(std::span(drawn));
        for (size_t i = 0; i < values.size(); ++i) {
            if (kept[i]) continue;
            values[i] = drawn[i];
            kept[i] = keep[i];
        }
    } while (!std::ranges::all_of(kept, std::identity()));
}

// Draws from the whole normal distribution, and keeps the numbers between the bounds.
std::vector<bool> draw_normal(std::span<float> drawn, const TruncNormalOptions& options,
                              Generator& generator) {
    const auto low = static_cast<float>(options.a), high = static_cast<float>(options.b);
    fill_normal(drawn, options.mean, options.std, generator);
    std::vector<bool> keep(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i)
        keep[i] = drawn[i] >= low && drawn[i] <= high;
    return keep;
}

// Draws uniformly between the bounds, and keeps each number with the probability
// density / maximum density between the bounds. The density of a number z standard
// deviations from the mean is proportional to exp(-z² / 2).
std::vector<bool> draw_between(std::span<float> drawn, const TruncNormalOptions& options,
                               Generator& generator) {
    const auto [mean, std, a, b] = options;
    const double peak = (std::clamp(mean, a, b) - mean) / std;
    const auto log_peak = static_cast<float>(-0.5 * peak * peak);
    fill_uniform(drawn, a, b, generator);
    std::vector<float> u(drawn.size());
    fill_uniform(u, 0, 1, generator);
    std::vector<bool> keep(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i) {
        const float z = (drawn[i] - static_cast<float>(mean)) / static_cast<float>(std);
        keep[i] = !(std::log(u[i]) > -0.5f * (z * z) - log_peak);
    }
    return keep;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

// Gram-Schmidt: subtracts from each vector its projections on the previous vectors, then
// scales the vector to length 1. Does both twice, since the first pass leaves rounding
// errors.
void orthonormalise(std::vector<std::vector<double>>& vectors) {
    for (size_t v = 0; v < vectors.size(); ++v) {
        std::vector<double>& x = vectors[v];
        for (int pass = 0; pass < 2; ++pass) {
            for (size_t u = 0; u < v; ++u) {
                const double along = dot(x, vectors[u]);
                for (size_t i = 0; i < x.size(); ++i) x[i] -= along * vectors[u][i];
            }
            const double length = std::sqrt(dot(x, x));
            for (double& value : x) value /= length;
        }
    }
}

}  // namespace

int64_t fan_in(const Tensor& weight) {
    const int64_t field = receptive_field(weight);
    // [lab04.3] Count the products in one output.
    return weight.size(1) * field;
    // [lab04.3]
}

int64_t fan_out(const Tensor& weight) {
    const int64_t field = receptive_field(weight);
    // [lab04.3] Count the outputs to which one input contributes.
    return weight.size(0) * field;
    // [lab04.3]
}

double calculate_gain(Nonlinearity nonlinearity, double negative_slope) {
    switch (nonlinearity) {
        case Nonlinearity::kLinear:
        case Nonlinearity::kSigmoid: return 1;
        case Nonlinearity::kTanh: return 5.0 / 3;
        case Nonlinearity::kRelu: return std::sqrt(2.0);
        case Nonlinearity::kLeakyRelu:
            return std::sqrt(2.0 / (1 + negative_slope * negative_slope));
        case Nonlinearity::kSelu: return 3.0 / 4;
    }
    throw UsageError("calculate_gain: no such nonlinearity");
}

void uniform_(Tensor& x, double from, double to, Generator& generator) {
    on_cpu(x,
           [&](Tensor& host) { fill_uniform(host.span<float>(), from, to, generator); });
    x.bump_version();
}

void normal_(Tensor& x, double mean, double std, Generator& generator) {
    on_cpu(x,
           [&](Tensor& host) { fill_normal(host.span<float>(), mean, std, generator); });
    x.bump_version();
}

void constant_(Tensor& x, double value) {
    const NoGradGuard no_grad;
    ops::copy_(x, ops::expand(Tensor::full({}, value, x.dtype(), x.device()), x.shape()));
}

void ones_(Tensor& x) { constant_(x, 1); }

void zeros_(Tensor& x) { constant_(x, 0); }

void eye_(Tensor& x) {
    check_shape(x.dim() == 2, "init: eye_ needs a matrix, got ", x.shape());
    zeros_(x);
    const int64_t columns = x.size(1);
    on_cpu(x, [&](Tensor& host) {
        for (int64_t i = 0; i < std::min(host.size(0), columns); ++i)
            host.span<float>()[static_cast<size_t>(i * columns + i)] = 1;
    });
}

void xavier_uniform_(Tensor& weight, double gain, Generator& generator) {
    const double bound = std::sqrt(3.0) * xavier_std(weight, gain);
    uniform_(weight, -bound, bound, generator);
}

void xavier_normal_(Tensor& weight, double gain, Generator& generator) {
    normal_(weight, 0, xavier_std(weight, gain), generator);
}

void kaiming_uniform_(Tensor& weight, KaimingOptions options, Generator& generator) {
    // [lab04.3] Draw uniformly, with Kaiming's standard deviation.
    const double bound = std::sqrt(3.0) * kaiming_std(weight, options);
    uniform_(weight, -bound, bound, generator);
    // [lab04.3]
}

void kaiming_normal_(Tensor& weight, KaimingOptions options, Generator& generator) {
    normal_(weight, 0, kaiming_std(weight, options), generator);
}

void trunc_normal_(Tensor& x, TruncNormalOptions options, Generator& generator) {
    const auto [mean, std, a, b] = options;
    if (!(std > 0) || !(a < b))
        throw UsageError(concat("trunc_normal_: std is ", std, " between ", a, " and ", b,
                                "; std must be positive and a below b"));

    const double inside = normal_cdf((b - mean) / std) - normal_cdf((a - mean) / std);
    if (!(inside > kMinInside) && std::isinf(b - a))
        throw UsageError(concat("trunc_normal_: less than ", kMinInside,
                                " of the normal distribution of mean ", mean, " and std ",
                                std, " is between ", a, " and ", b,
                                "; give two finite bounds"));
    on_cpu(x, [&](Tensor& host) {
        draw_until_kept(host.span<float>(), [&](std::span<float> drawn) {
            return inside > kMinInside ? draw_normal(drawn, options, generator)
                                       : draw_between(drawn, options, generator);
        });
    });
    x.bump_version();
}

void orthogonal_(Tensor& weight, double gain, Generator& generator) {
    check_shape(weight.dim() >= 2, "init: orthogonal_ needs two or more dimensions, got ",
                weight.shape());
    if (weight.numel() == 0) return;
    if (weight.device().is_cuda())
        return on_cpu(weight, [&](Tensor& host) { orthogonal_(host, gain, generator); });
    normal_(weight, 0, 1, generator);

    // Take the rows of a wide matrix, or the columns of a tall matrix.
    const auto values = weight.span<float>();
    const auto rows = static_cast<size_t>(weight.size(0));
    const size_t columns = values.size() / rows;
    const bool wide = rows < columns;
    std::vector<std::vector<double>> vectors(
        std::min(rows, columns), std::vector<double>(std::max(rows, columns)));
    const auto at = [&](size_t v, size_t i) -> float& {
        return wide ? values[v * columns + i] : values[i * columns + v];
    };
    for (size_t v = 0; v < vectors.size(); ++v)
        for (size_t i = 0; i < vectors[v].size(); ++i) vectors[v][i] = at(v, i);

    orthonormalise(vectors);
    for (size_t v = 0; v < vectors.size(); ++v)
        for (size_t i = 0; i < vectors[v].size(); ++i)
            at(v, i) = static_cast<float>(vectors[v][i] * gain);
}

void reset_parameters(Tensor& weight, Tensor& bias) {
    // [lab04.3] Draw the weight, then the bias, from the same interval.
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    if (!bias.defined()) return;
    const auto fan = static_cast<double>(fan_in(weight));
    const double bound = fan > 0 ? 1.0 / std::sqrt(fan) : 0.0;
    uniform_(bias, -bound, bound);
    // [lab04.3]
}

}  // namespace mini::nn::init
