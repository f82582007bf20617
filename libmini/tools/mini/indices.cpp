#include "libmini/tools/mini/indices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/python_random.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tools/mini/shares_table.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kMaxLength = 100'000'000;  // indices take 8 bytes each
constexpr int kMaxReplicas = 1'000'000;

// The option values of all subcommands.
struct IndicesOptions {
    std::string format = "table";
    std::string torch = "2.15";
    int64_t length = 0;
    int replicas = 1;
    std::optional<int> rank;
    int64_t epoch = 0;
    int64_t seed = 0;
    bool no_shuffle = false;
    bool drop_last = false;
    bool replacement = false;
    bool no_replacement = false;
    bool assign_remainder = false;
    std::optional<int64_t> num_samples;
    std::vector<double> numbers;
    std::vector<int64_t> indices;
};

void check_length(const char* option, int64_t length) {
    if (length < 0 || length > kMaxLength)
        throw UsageError(fmt::format("{} wants a number from 0 to {}, not {}", option,
                                     kMaxLength, length));
}

// Parses "1.13" or "2.15".
TorchVersion parse_version(const std::string& text) {
    TorchVersion version;
    const char *const begin = text.data(), *const end = begin + text.size();
    const auto major = std::from_chars(begin, end, version.major);
    const bool has_minor = major.ec == std::errc() && major.ptr != end;
    const auto minor =
        std::from_chars(has_minor ? major.ptr + 1 : end, end, version.minor);
    if (!has_minor || *major.ptr != '.' || minor.ec != std::errc() || minor.ptr != end)
        throw UsageError(
            fmt::format("--torch wants a version such as 1.13 or 2.15, not '{}'", text));
    return version;
}

std::shared_ptr<Generator> seeded(const IndicesOptions& options) {
    auto generator = std::make_shared<Generator>(static_cast<uint64_t>(options.seed));
    generator->set_version(parse_version(options.torch));
    return generator;
}

// A dataset with a size but no samples.
class SizeOnlyDataset : public data::Dataset {
  public:
    explicit SizeOnlyDataset(int64_t size) : size_(size) {}
    int64_t size() const override { return size_; }
    data::Example get(int64_t) const override {
        throw Error("mini indices: this dataset has no samples, only a size");
    }

  private:
    int64_t size_;
};

Shares one_order(std::string title, std::vector<int64_t> order) {
    return {.title = std::move(title),
            .shares = {{.owner = "order", .indices = std::move(order)}},
            .one_list = true,
            .remark = ""};
}

// Returns share_of(rank) for the rank given by --rank, or for all ranks.
Shares by_rank(const IndicesOptions& options, std::string title,
               const std::function<Share(int rank)>& share_of) {
    check_length("--len", options.length);
    if (options.replicas < 1 || options.replicas > kMaxReplicas)
        throw UsageError(fmt::format("--replicas wants a number from 1 to {}, not {}",
                                     kMaxReplicas, options.replicas));
    Shares shares{
        .title = std::move(title), .shares = {}, .one_list = false, .remark = ""};
    if (options.rank) {
        shares.one_list = true;
        shares.shares.push_back(share_of(*options.rank));
        return shares;
    }
    for (int rank = 0; rank < options.replicas; ++rank)
        shares.shares.push_back(share_of(rank));
    return shares;
}

Shares distributed(const IndicesOptions& options) {
    return by_rank(
        options,
        fmt::format("DistributedSampler: {} samples on {} ranks, {}{}", options.length,
                    options.replicas,
                    options.no_shuffle
                        ? "in order"
                        : fmt::format("seed {}, epoch {}", options.seed, options.epoch),
                    options.drop_last ? ", the tail dropped" : ""),
        [&](int rank) {
            data::DistributedSampler sampler(options.length,
                                             {.num_replicas = options.replicas,
                                              .rank = rank,
                                              .shuffle = !options.no_shuffle,
                                              .seed = static_cast<uint64_t>(options.seed),
                                              .drop_last = options.drop_last});
            sampler.set_epoch(options.epoch);
            // Position i of this rank is position rank + i * replicas of the global
            // order; positions past the dataset's end are padding.
            const int64_t before_end = options.length - rank + options.replicas - 1;
            return Share{
                .owner = fmt::format("rank {}", rank),
                .indices = sampler.indices(),
                .padding_from = std::max<int64_t>(0, before_end) / options.replicas};
        });
}

Shares evaluation(const IndicesOptions& options) {
    return by_rank(
        options,
        fmt::format("DistributedEvalSampler: {} samples on {} ranks, each once",
                    options.length, options.replicas),
        [&](int rank) {
            data::DistributedEvalSampler sampler(
                options.length, {.num_replicas = options.replicas, .rank = rank});
            return Share{.owner = fmt::format("rank {}", rank),
                         .indices = sampler.indices()};
        });
}

Shares permutation(const IndicesOptions& options) {
    check_length("--n", options.length);
    return one_order(
        fmt::format("torch.randperm({}), seed {}", options.length, options.seed),
        randperm(options.length, *seeded(options)));
}

Shares random(const IndicesOptions& options) {
    check_length("--len", options.length);
    check_length("--num-samples", options.num_samples.value_or(0));
    data::RandomSampler sampler(options.length, {.replacement = options.replacement,
                                                 .num_samples = options.num_samples,
                                                 .generator = seeded(options)});
    return one_order(
        fmt::format("RandomSampler: {} of {} samples{}, seed {}", sampler.size(),
                    options.length, options.replacement ? " with replacement" : "",
                    options.seed),
        sampler.indices());
}

Shares weighted(const IndicesOptions& options) {
    check_length("--num-samples", options.num_samples.value_or(0));
    data::WeightedRandomSampler sampler(options.numbers, options.num_samples.value_or(0),
                                        !options.no_replacement, seeded(options));
    return one_order(
        fmt::format("WeightedRandomSampler: {} draws from {} weights{}, seed {}",
                    sampler.size(), options.numbers.size(),
                    options.no_replacement ? " without replacement" : "", options.seed),
        sampler.indices());
}

Shares subset(const IndicesOptions& options) {
    data::SubsetRandomSampler sampler(options.indices, seeded(options));
    return one_order(fmt::format("SubsetRandomSampler: {} samples, seed {}",
                                 options.indices.size(), options.seed),
                     sampler.indices());
}

Shares partition(const IndicesOptions& options) {
    check_length("--len", options.length);
    const data::DataPartitioner partitioner(
        std::make_shared<SizeOnlyDataset>(options.length), options.numbers,
        {.seed = options.seed, .assign_remainder = options.assign_remainder});
    Shares shares{
        .title = fmt::format("DataPartitioner: {} samples in {} parts, seed {}",
                             options.length, options.numbers.size(), options.seed),
        .shares = {},
        .one_list = false,
        .remark = ""};
    int64_t left = options.length;
    for (size_t k = 0; k < options.numbers.size(); ++k) {
        const data::Partition part = partitioner.use(static_cast<int>(k));
        shares.shares.push_back(
            {.owner = fmt::format("part {}", k), .indices = part.index()});
        left -= part.size();
    }
    if (left > 0)
        shares.remark =
            fmt::format("{} of {} samples belong to no part{}", left, options.length,
                        options.assign_remainder
                            ? ""
                            : "; --assign-remainder assigns the samples that truncation "
                              "leaves over");
    return shares;
}

Shares python_shuffle(const IndicesOptions& options) {
    check_length("--n", options.length);
    std::vector<int64_t> order(static_cast<size_t>(options.length));
    std::iota(order.begin(), order.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(order);
    return one_order(fmt::format("Python's random.Random({}).shuffle of {}", options.seed,
                                 options.length),
                     std::move(order));
}

void print(const Shares& shares, const IndicesOptions& options) {
    fmt::print("{}",
               options.format == "json" ? shares_json(shares) : shares_table(shares));
}

// Declares a subcommand that prints the result of `make_shares` to stdout.
class IndicesCommand {
  public:
    IndicesCommand(Command& indices, const char* name, const char* description,
                   Shares (*make_shares)(const IndicesOptions&))
        : command_(indices.add_command(name, description)) {
        command_.add("--format", options_->format, "table, or json: one list")
            .one_of({"table", "json"});
        command_.on_parsed([options = options_, make_shares] {
            print(make_shares(*options), *options);
        });
    }

    template <typename T>
    IndicesCommand& required(const char* name, T IndicesOptions::*field,
                             const char* description) {
        option(name, field, description).required();
        return *this;
    }
    template <typename T>
    IndicesCommand& optional(const char* name, T IndicesOptions::*field,
                             const char* description) {
        option(name, field, description);
        return *this;
    }
    IndicesCommand& seed(const char* description, int64_t default_value = 0) {
        options_->seed = default_value;
        return optional("--seed", &IndicesOptions::seed, description);
    }
    IndicesCommand& flag(const char* name, bool IndicesOptions::*field,
                         const char* description) {
        command_.add_flag(name, (*options_).*field, description);
        return *this;
    }

  private:
    template <typename T>
    Option option(const char* name, T IndicesOptions::*field, const char* description) {
        return command_.add(name, (*options_).*field, description).split_at(',');
    }

    std::shared_ptr<IndicesOptions> options_ = std::make_shared<IndicesOptions>();
    Command command_;
};

// Declares the subcommands of samplers that give each rank its own samples.
void add_distributed_samplers(Command& indices) {
    constexpr const char* kRank = "Only this rank (all ranks unless given)";
    IndicesCommand(indices, "distributed", "DistributedSampler: every rank's samples",
                   distributed)
        .required("--len", &IndicesOptions::length, "Samples in the dataset")
        .required("--replicas", &IndicesOptions::replicas, "Ranks")
        .optional("--rank", &IndicesOptions::rank, kRank)
        .optional("--epoch", &IndicesOptions::epoch, "The epoch, as passed to set_epoch")
        .seed("Seed, the same on all ranks")
        .flag("--no-shuffle", &IndicesOptions::no_shuffle, "In order")
        .flag("--drop-last", &IndicesOptions::drop_last,
              "Drop the tail instead of padding it");
    IndicesCommand(indices, "evaluation",
                   "DistributedEvalSampler: each sample exactly once", evaluation)
        .required("--len", &IndicesOptions::length, "Samples in the dataset")
        .required("--replicas", &IndicesOptions::replicas, "Ranks")
        .optional("--rank", &IndicesOptions::rank, kRank);
}

// Declares the subcommands of samplers that one process uses for the whole dataset.
void add_samplers(Command& indices) {
    constexpr const char* kSeed = "Seed of the generator";
    IndicesCommand(indices, "randperm", "torch.randperm", permutation)
        .required("--n", &IndicesOptions::length, "How many")
        .seed(kSeed);
    IndicesCommand(indices, "random", "RandomSampler with its own generator", random)
        .required("--len", &IndicesOptions::length, "Samples in the dataset")
        .seed(kSeed)
        .flag("--replacement", &IndicesOptions::replacement, "Draw with replacement")
        .optional("--num-samples", &IndicesOptions::num_samples,
                  "How many (--len unless given)");
    IndicesCommand(indices, "weighted", "WeightedRandomSampler", weighted)
        .required("--weights", &IndicesOptions::numbers, "One weight per sample: a,b,c")
        .required("--num-samples", &IndicesOptions::num_samples, "How many")
        .seed(kSeed)
        .optional("--torch", &IndicesOptions::torch,
                  "The version of PyTorch (2.15): since 2.0 a single sample with "
                  "replacement is drawn differently")
        .flag("--no-replacement", &IndicesOptions::no_replacement,
              "Each sample at most once");
    IndicesCommand(indices, "subset", "SubsetRandomSampler", subset)
        .required("--indices", &IndicesOptions::indices, "Indices of the samples: a,b,c")
        .seed(kSeed);
}

// Declares the subcommands whose order comes from Python's random generator.
void add_shuffles(Command& indices) {
    IndicesCommand(indices, "partition", "DataPartitioner of the tutorial", partition)
        .required("--len", &IndicesOptions::length, "Samples in the dataset")
        .required("--sizes", &IndicesOptions::numbers, "Fractions: 0.7,0.2,0.1")
        .seed("Seed of Python's random.Random (1234)", 1234)
        .flag("--assign-remainder", &IndicesOptions::assign_remainder,
              "Assign the samples that truncation leaves over");
    IndicesCommand(indices, "shuffle", "Python's random.Random(seed).shuffle",
                   python_shuffle)
        .required("--n", &IndicesOptions::length, "How many")
        .seed("Seed of Python's random.Random");
}

}  // namespace

void add_indices(Command& mini) {
    Command indices = mini.add_command(
        "indices",
        "Prints who gets which sample, as PyTorch's samplers (or Python) would");
    indices.require_command();
    add_distributed_samplers(indices);
    add_samplers(indices);
    add_shuffles(indices);
}

}  // namespace mini::tools
