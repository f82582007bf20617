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

// What the options of all subcommands fill in.
struct DrawsOptions {
    int64_t n = 5;
    uint64_t seed = 0;
    std::string rounding = "fused";
    std::string format = "lines";
    double first = 0;   // from, mean or probability
    double second = 1;  // to or standard deviation
};

using Fill = void (*)(std::span<float>, const DrawsOptions&, Generator&);

// A float is printed as the double of the same value, like PyTorch's tolist.
void print(const DrawsOptions& wanted, Fill fill) {
    if (!std::isfinite(wanted.first) || !std::isfinite(wanted.second))
        throw UsageError("mini random wants finite numbers");
    Generator generator(wanted.seed);
    if (wanted.rounding == "separate") generator.set_rounding(Rounding::kSeparate);
    std::vector<float> values(static_cast<size_t>(wanted.n));
    fill(values, wanted, generator);

    const std::vector<double> exact(values.begin(), values.end());
    if (wanted.format == "json")
        fmt::print("[{}]\n", fmt::join(exact, ","));
    else
        for (const double value : exact) fmt::print("{}\n", value);
}

// A subcommand, with the options that all have.
struct Subcommand {
    Subcommand(Command& random, const char* name, const char* description, Fill fill)
        : command(random.add_command(name, description)) {
        command.add("--n", wanted->n, "How many").range(0, kMaxNumbers);
        command.add("--seed", wanted->seed, "Of the generator");
        command
            .add("--rounding", wanted->rounding,
                 "x * scale + shift is rounded once, as PyTorch does with AVX2, or twice")
            .type_name("fused|separate")
            .one_of({"fused", "separate"});
        command.add("--format", wanted->format, "One number a line, or json: one list")
            .type_name("lines|json")
            .one_of({"lines", "json"});
        command.on_parsed([wanted = wanted, fill] { print(*wanted, fill); });
    }

    std::shared_ptr<DrawsOptions> wanted = std::make_shared<DrawsOptions>();
    Command command;
};

}  // namespace

void add_random(Command& mini) {
    Command random =
        mini.add_command("random", "Prints float32 numbers as PyTorch draws them");
    random.require_command();

    Subcommand uniform(
        random, "uniform", "torch.rand, Tensor.uniform_",
        [](std::span<float> values, const DrawsOptions& wanted, Generator& g) {
            fill_uniform(values, wanted.first, wanted.second, g);
        });
    uniform.command.add("--from", uniform.wanted->first, "The least number");
    uniform.command.add("--to", uniform.wanted->second, "All numbers are below it");

    Subcommand normal(
        random, "normal", "torch.randn, Tensor.normal_",
        [](std::span<float> values, const DrawsOptions& wanted, Generator& g) {
            fill_normal(values, wanted.first, wanted.second, g);
        });
    normal.command.add("--mean", normal.wanted->first, "The mean");
    normal.command.add("--std", normal.wanted->second, "The standard deviation")
        .not_negative();

    Subcommand bernoulli(
        random, "bernoulli", "Tensor.bernoulli_, dropout's masks",
        [](std::span<float> values, const DrawsOptions& wanted, Generator& g) {
            if (!(wanted.first >= 0 && wanted.first <= 1))
                throw UsageError(
                    concat("--p wants a number from 0 to 1,"
                           " not ",
                           wanted.first));
            fill_bernoulli(values, wanted.first, g);
        });
    bernoulli.wanted->first = 0.5;
    bernoulli.command.add("--p", bernoulli.wanted->first, "The probability of 1");
}

}  // namespace mini::tools
