#include "libmini/tools/mini/draws.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/random/random.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kMaxNumbers = 100'000'000;

// The option values of all subcommands.
struct DrawsOptions {
    int64_t n = 5;
    uint64_t seed = 0;
    std::string rounding = "fused";
    std::string format = "lines";
    double first = 0;   // --from, --mean or --p
    double second = 1;  // --to or --std
};

using Fill = void (*)(std::span<float>, const DrawsOptions&, Generator&);

// Prints each float as the double with the same value, like PyTorch's tolist().
void print(const DrawsOptions& options, Fill fill) {
    if (!std::isfinite(options.first) || !std::isfinite(options.second))
        throw UsageError("mini random wants finite numbers");
    Generator generator(options.seed);
    if (options.rounding == "separate") generator.set_rounding(Rounding::kSeparate);
    std::vector<float> values(static_cast<size_t>(options.n));
    fill(values, options, generator);

    const std::vector<double> exact(values.begin(), values.end());
    if (options.format == "json")
        fmt::print("[{}]\n", fmt::join(exact, ","));
    else
        for (const double value : exact) fmt::print("{}\n", value);
}

// A subcommand with the common options.
struct Subcommand {
    Subcommand(Command& random, const char* name, const char* description, Fill fill)
        : command(random.add_command(name, description)) {
        command.add("--n", options->n, "Number of values").range(0, kMaxNumbers);
        command.add("--seed", options->seed, "Seed of the generator");
        command
            .add("--rounding", options->rounding,
                 "x * scale + shift is rounded once, as PyTorch does with AVX2, or twice")
            .type_name("fused|separate")
            .one_of({"fused", "separate"});
        command.add("--format", options->format, "One number per line, or json: one list")
            .type_name("lines|json")
            .one_of({"lines", "json"});
        command.on_parsed([options = options, fill] { print(*options, fill); });
    }

    std::shared_ptr<DrawsOptions> options = std::make_shared<DrawsOptions>();
    Command command;
};

}  // namespace

void add_random(Command& mini) {
    Command random =
        mini.add_command("random", "Prints float32 numbers as PyTorch draws them");
    random.require_command();

    Subcommand uniform(
        random, "uniform", "torch.rand, Tensor.uniform_",
        [](std::span<float> values, const DrawsOptions& options, Generator& g) {
            fill_uniform(values, options.first, options.second, g);
        });
    uniform.command.add("--from", uniform.options->first, "The lower bound (included)");
    uniform.command.add("--to", uniform.options->second, "The upper bound (excluded)");

    Subcommand normal(
        random, "normal", "torch.randn, Tensor.normal_",
        [](std::span<float> values, const DrawsOptions& options, Generator& g) {
            fill_normal(values, options.first, options.second, g);
        });
    normal.command.add("--mean", normal.options->first, "The mean");
    normal.command.add("--std", normal.options->second, "The standard deviation")
        .not_negative();

    Subcommand bernoulli(
        random, "bernoulli", "Tensor.bernoulli_, dropout's masks",
        [](std::span<float> values, const DrawsOptions& options, Generator& g) {
            if (!(options.first >= 0 && options.first <= 1))
                throw UsageError(
                    concat("--p wants a number from 0 to 1,"
                           " not ",
                           options.first));
            fill_bernoulli(values, options.first, g);
        });
    bernoulli.options->first = 0.5;
    bernoulli.command.add("--p", bernoulli.options->first, "The probability of 1");
}

}  // namespace mini::tools
