#include "libmini/extras/scaling/step_options.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::scaling {
namespace {

constexpr int kMaxStepRanks = 4096;
constexpr double kMaxSlowdown = 1000;
constexpr double kMaxMs = 3.6e6;      // an hour
constexpr double kDefaultCapMb = 25;  // as in parallel::DDPOptions

// Parses "3:2.5": the compute times of rank 3 are 2.5 times as long.
std::pair<int, double> slow_rank_of(const std::string& text) {
    int rank = -1;
    double factor = 0;
    const char* const end = text.data() + text.size();
    auto result = std::from_chars(text.data(), end, rank);
    bool is_right = result.ec == std::errc() && result.ptr != end && *result.ptr == ':';
    if (is_right) {
        result = std::from_chars(result.ptr + 1, end, factor);
        is_right = result.ec == std::errc() && result.ptr == end;
    }
    if (!is_right || rank < 0 || !(factor >= 1 && factor <= kMaxSlowdown))
        throw UsageError(concat("--slow-rank: \"", text,
                                "\" is not like 3:2.5, a rank and a ",
                                "factor from 1 to ", kMaxSlowdown));
    return {rank, factor};
}

std::map<int, double> slow_ranks_of(const StepOptions& options) {
    const int fewest = *std::ranges::min_element(options.ranks);
    std::map<int, double> slowdown;
    for (const std::string& text : options.slow_ranks) {
        const auto [rank, factor] = slow_rank_of(text);
        if (rank >= fewest)
            throw UsageError(concat("--slow-rank: there is no rank ", rank,
                                    " where --ranks is ", fewest));
        slowdown[rank] = factor;
    }
    return slowdown;
}

void check_range(const char* option, double value, double most) {
    if (!(value >= 0 && value <= most))
        throw UsageError(concat(option, " is ", value, ", and must be from 0 to ", most));
}

}  // namespace

void add_profile_options(Command& command, ProfileOptions& o) {
    command.add("--model", o.model, "A model by its published sizes (resnet50)")
        .one_of(published_models());
    command.add("--from", o.from, "A report of train_mnist --json, in place of a model")
        .type_name("FILE");
    command.add("--forward-ms", o.forward_ms, "Time of a model's forward pass (35)");
    command.add("--backward-ms", o.backward_ms,
                "Time of its backward pass, without waiting (70)");
}

MeasuredStep step_of(const Command& command, const ProfileOptions& options) {
    constexpr double kMilliseconds = 1e3;
    if (options.from.empty()) {
        check_range("--forward-ms", options.forward_ms, kMaxMs);
        check_range("--backward-ms", options.backward_ms, kMaxMs);
        return {.profile = profile_of(published_model(options.model),
                                      options.forward_ms / kMilliseconds,
                                      options.backward_ms / kMilliseconds),
                .bucket_cap_mb = kDefaultCapMb};
    }
    for (const char* const option : {"--model", "--forward-ms", "--backward-ms"})
        if (command.given(option))
            throw UsageError(concat(option,
                                    " cannot be given with --from: a report has its ",
                                    "own gradients and times"));
    return read_step(options.from);
}

void check_bucket_sizes(const char* option, const std::vector<double>& sizes_mb) {
    for (const double mb : sizes_mb) check_range(option, mb, kMaxCapMb);
}

void add_caps_option(Command& command, std::vector<double>& caps_mb) {
    command
        .add("--bucket-cap-mb", caps_mb,
             "Bucket sizes in MiB, with commas; 0: a bucket per gradient (25, or as in "
             "the report)")
        .split_at(',');
}

std::vector<double> caps_of(const std::vector<double>& caps_mb,
                            const MeasuredStep& step) {
    return caps_mb.empty() ? std::vector{step.bucket_cap_mb} : caps_mb;
}

void add_step_options(Command& command, StepOptions& o) {
    add_profile_options(command, o.of);
    command.add("--ranks", o.ranks, "How many; several with commas (2,8,64,256)")
        .split_at(',')
        .range(1, kMaxStepRanks);
    add_caps_option(command, o.caps_mb);
    command.add(
        "--link", o.link,
        "Rate and delay, and hosts and slow links: as in mini simulate allreduce");
    command.add("--algorithm", o.algorithm,
                "Of the all-reduces: auto, ring, tree, ... (auto)");
    command
        .add("--slow-rank", o.slow_ranks,
             "RANK:FACTOR, as 3:2.5: rank 3 computes 2.5 times as long; several with "
             "commas")
        .split_at(',');
    command.add_flag("!--no-overlap", o.overlaps,
                     "Start all-reduces when backward has ended");
    command.add("--seed", o.seed, "Which order of ranks that are ready at one time");
    command.add("--format", o.format, "table or json").one_of({"table", "json"});
}

StepPlan plan_of(const Command& command, const StepOptions& options) {
    check_bucket_sizes("--bucket-cap-mb", options.caps_mb);
    StepPlan plan;
    plan.cluster.links = dist::parse_links(options.link);
    plan.cluster.seed = options.seed;
    plan.cluster.algorithm = dist::parse_algorithm(options.algorithm);
    plan.cluster.overlaps = options.overlaps;
    plan.cluster.slowdown = slow_ranks_of(options);
    MeasuredStep step = step_of(command, options.of);
    plan.caps_mb = caps_of(options.caps_mb, step);
    plan.profile = std::move(step.profile);
    return plan;
}

}  // namespace mini::scaling
