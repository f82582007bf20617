// mini indices: prints the sample indices that each rank gets, in the order of any sampler or
// partitioner of libmini: a table with one row per owner and one column per position, ten
// positions a line, or JSON.
//
//     position 0  1  2  3
//     rank 0   5  2  9  4
//     rank 1   6  0  3  5*     * padding
//     rank 2   1  8  7  6*

#include "libmini/tools/mini/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/program/table.hpp"
#include "libmini/random/random.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kMaxLength = 100'000'000;  // indices take 8 bytes each
constexpr int kMaxReplicas = 1'000'000;

constexpr int64_t kColumns = 10;     // positions of a line
constexpr int64_t kMostBlocks = 12;  // of lines; later positions are only counted

// The sample indices of one owner: a rank, a part of a partition, or a whole order.
struct Share {
    std::string owner;  // "rank 0", "part 1", "order"
    std::vector<int64_t> indices;
    int64_t padding_from = INT64_MAX;  // positions from here on are padding
};

// The output of `mini indices`.
struct Shares {
    std::string title;  // describes the sampler and its arguments
    std::vector<Share> shares;
    bool one_list = false;  // JSON: one list of indices, not a list of lists
    std::string remark;     // one sentence below the table; may be empty
};

// Returns the positions begin to end of all owners.
std::string block(const Shares& shares, int64_t begin, int64_t end) {
    std::vector<std::vector<std::string>> rows{{"position"}};
    for (int64_t i = begin; i < end; ++i) rows[0].push_back(fmt::format("{} ", i));
    for (const Share& share : shares.shares) {
        rows.push_back({share.owner});
        for (int64_t i = begin; i < std::min(end, std::ssize(share.indices)); ++i)
            rows.back().push_back(fmt::format("{}{}",
                                              share.indices[static_cast<size_t>(i)],
                                              i < share.padding_from ? ' ' : '*'));
    }
    return "\n" + aligned(rows, 1, 1);
}

// Returns the table; every line ends with a newline. Of many positions, the last ones are
// only counted.
std::string shares_table(const Shares& shares) {
    int64_t positions = 0;
    bool is_padded = false;
    for (const Share& share : shares.shares) {
        positions = std::max(positions, std::ssize(share.indices));
        is_padded |= std::ssize(share.indices) > share.padding_from;
    }
    const int64_t shown = std::min(positions, kColumns * kMostBlocks);
    std::string text = shares.title + "\n";
    for (int64_t begin = 0; begin < shown; begin += kColumns)
        text += block(shares, begin, std::min(shown, begin + kColumns));
    if (positions > shown)
        text +=
            fmt::format("\n... and {} more positions; --format json prints all of them\n",
                        with_commas(positions - shown));
    if (is_padded)
        text += "\n* padding: samples that another position of this epoch has too\n";
    if (!shares.remark.empty()) text += fmt::format("\n{}\n", shares.remark);
    return text;
}

// Returns the shares as one JSON value on one line.
std::string shares_json(const Shares& shares) {
    nlohmann::json json = nlohmann::json::array();
    if (shares.one_list) {
        json = shares.shares.front().indices;
    } else {
        for (const Share& share : shares.shares) json.push_back(share.indices);
    }
    return json.dump() + "\n";
}

// The option values of a subcommand.
struct IndicesOptions {
    std::string format = "table";
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
};

std::shared_ptr<Generator> seeded(const IndicesOptions& options) {
    return std::make_shared<Generator>(static_cast<uint64_t>(options.seed));
}

Shares one_order(std::string title, std::vector<int64_t> order) {
    return {.title = std::move(title),
            .shares = {{.owner = "order", .indices = std::move(order)}},
            .one_list = true,
            .remark = ""};
}

Share share_of(const IndicesOptions& options, int rank) {
    data::DistributedSampler sampler(options.length,
                                     {.num_replicas = options.replicas,
                                      .rank = rank,
                                      .shuffle = !options.no_shuffle,
                                      .seed = static_cast<uint64_t>(options.seed),
                                      .drop_last = options.drop_last});
    sampler.set_epoch(options.epoch);
    // Position i of this rank is position rank + i * replicas of the global order;
    // positions past the dataset's end are padding.
    const int64_t before_end = options.length - rank + options.replicas - 1;
    return {.owner = fmt::format("rank {}", rank),
            .indices = sampler.indices(),
            .padding_from = std::max<int64_t>(0, before_end) / options.replicas};
}

// Returns the shares of the rank given by --rank, or of all ranks.
Shares distributed(const IndicesOptions& options) {
    Shares shares{.title = fmt::format(
                      "DistributedSampler: {} samples on {} ranks, {}{}", options.length,
                      options.replicas,
                      options.no_shuffle
                          ? "in order"
                          : fmt::format("seed {}, epoch {}", options.seed, options.epoch),
                      options.drop_last ? ", the tail dropped" : ""),
                  .shares = {},
                  .one_list = options.rank.has_value(),
                  .remark = ""};
    const int first = options.rank.value_or(0);
    const int end = options.rank ? first + 1 : options.replicas;
    for (int rank = first; rank < end; ++rank)
        shares.shares.push_back(share_of(options, rank));
    return shares;
}

Shares permutation(const IndicesOptions& options) {
    return one_order(
        fmt::format("torch.randperm({}), seed {}", options.length, options.seed),
        randperm(options.length, *seeded(options)));
}

Shares random(const IndicesOptions& options) {
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
    data::WeightedRandomSampler sampler(options.numbers, options.num_samples.value_or(0),
                                        !options.no_replacement, seeded(options));
    return one_order(
        fmt::format("WeightedRandomSampler: {} draws from {} weights{}, seed {}",
                    sampler.size(), options.numbers.size(),
                    options.no_replacement ? " without replacement" : "", options.seed),
        sampler.indices());
}

Shares partition(const IndicesOptions& options) {
    const Tensor empty = Tensor::zeros({options.length, 0});  // samples without values
    const data::DataPartitioner partitioner(
        std::make_shared<data::TensorDataset>(empty, empty), options.numbers,
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

// A subcommand that prints the result of `make_shares` to stdout.
struct IndicesCommand {
    IndicesCommand(Command& indices, const char* name, const char* description,
                   Shares (*make_shares)(const IndicesOptions&), int64_t seed = 0)
        : command(indices.add_command(name, description)) {
        options->seed = seed;
        add("--format", options->format, "table, or json: one list")
            .one_of({"table", "json"});
        add("--seed", options->seed, "Seed of the order, the same on all ranks");
        command.on_parsed([options = options, make_shares] {
            const Shares shares = make_shares(*options);
            fmt::print("{}", options->format == "json" ? shares_json(shares)
                                                       : shares_table(shares));
        });
    }

    template <typename T>
    Option add(const char* name, T& value, const char* description) {
        return command.add(name, value, description).split_at(',');
    }
    Option add_length(const char* name, const char* description) {
        return add(name, options->length, description).required().range(0, kMaxLength);
    }
    Option add_num_samples() {
        return add("--num-samples", options->num_samples, "How many (all by default)")
            .range(0, kMaxLength);
    }

    std::shared_ptr<IndicesOptions> options = std::make_shared<IndicesOptions>();
    Command command;
};

void add_distributed(Command& indices) {
    IndicesCommand command(indices, "distributed",
                           "DistributedSampler: every rank's samples", distributed);
    IndicesOptions& options = *command.options;
    command.add_length("--len", "Samples in the dataset");
    command.add("--replicas", options.replicas, "Ranks")
        .required()
        .range(1, kMaxReplicas);
    command.add("--rank", options.rank, "Only this rank (all ranks unless given)");
    command.add("--epoch", options.epoch, "The epoch, as passed to set_epoch");
    command.command.add_flag("--no-shuffle", options.no_shuffle, "In order");
    command.command.add_flag("--drop-last", options.drop_last,
                             "Drop the tail instead of padding it");
}

// Declares the subcommands of samplers that one process uses for the whole dataset.
void add_samplers(Command& indices) {
    IndicesCommand(indices, "randperm", "torch.randperm", permutation)
        .add_length("--n", "How many");

    IndicesCommand random_sampler(indices, "random",
                                  "RandomSampler with its own generator", random);
    random_sampler.add_length("--len", "Samples in the dataset");
    random_sampler.command.add_flag("--replacement", random_sampler.options->replacement,
                                    "Draw with replacement");
    random_sampler.add_num_samples();

    IndicesCommand sampler(indices, "weighted", "WeightedRandomSampler", weighted);
    sampler.add("--weights", sampler.options->numbers, "One weight per sample: a,b,c")
        .required();
    sampler.add_num_samples().required();
    sampler.command.add_flag("--no-replacement", sampler.options->no_replacement,
                             "Each sample at most once");
}

void add_partition(Command& indices) {
    IndicesCommand command(indices, "partition", "DataPartitioner of the tutorial",
                           partition, 1234);
    command.add_length("--len", "Samples in the dataset");
    command.add("--sizes", command.options->numbers, "Fractions: 0.7,0.2,0.1").required();
    command.command.add_flag("--assign-remainder", command.options->assign_remainder,
                             "Assign the samples that truncation leaves over");
}

}  // namespace

void add_indices(Command& mini) {
    Command indices = mini.add_command(
        "indices",
        "Prints who gets which sample, as PyTorch's samplers (or Python) would");
    indices.require_command();
    add_distributed(indices);
    add_samplers(indices);
    add_partition(indices);
}

}  // namespace mini::tools
