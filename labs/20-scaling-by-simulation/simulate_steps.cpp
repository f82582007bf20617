// simulate step: the time of a DistributedDataParallel step on a simulated cluster.
//
//     $ simulate step --ranks 256,1024
//     ranks cap MiB buckets   comm ms exposed ms  step ms efficiency  wall s
//       256      25       5     41.79       6.65   111.65     94.0 %    0.40
//      1024      25       5    118.64      48.68   153.68     68.3 %    8.83
//
//     comm ms        all-reduces of the buckets, each from its start on the last rank
//     exposed ms     part of the step after backward: communication that is not hidden
//     efficiency     time of a step on one rank / time of this step
//     wall s         real time of the simulation (the next column is the algorithm)
//
// The optimizer's step is not simulated, and communication does not slow down compute.
//
// simulate buckets: the buckets of a model, and when each of them is all-reduced.
//
//     $ simulate buckets --model resnet18 --backward-ms 30 --link 25Gbit,20us
//     bucket  gradients       bytes  ready ms  begin ms  end ms  last gradient
//          0          2   2,052,000      0.01      0.01    1.44  fc.weight
//          1         12  28,852,224      5.84      5.84   22.27  layer4.0.conv2.weight
//          2         48  15,853,824     30.00     30.00   39.16  conv1.weight
//
//     ready ms       the last gradient is ready; times since the end of forward
//     begin, end     of the bucket's all-reduce, by formula (all_reduce_on_links.hpp)
//
// The view of one rank, with all ranks alike, as prediction.hpp predicts it: a table
// takes milliseconds. simulate step simulates the messages of all ranks.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"
#include "labs/20-scaling-by-simulation/prediction.hpp"
#include "labs/20-scaling-by-simulation/published_models.hpp"
#include "labs/20-scaling-by-simulation/simulate.hpp"
#include "labs/20-scaling-by-simulation/simulated_step.hpp"
#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::lab20 {
namespace {

constexpr double kMilliseconds = 1e3;  // per second
constexpr int kMaxRanks = 4096;

// ---- what both commands compute from

// A model with its assumed times, or a measured step.
struct Source {
    std::string model = "resnet50", from;
    double forward_ms = 35, backward_ms = 70;
    std::vector<double> caps_mb;  // empty: 25, or as in the report

    // The name of the model, or the path of the report.
    const std::string& name() const { return from.empty() ? model : from; }
};

void add_source(Command& command, Source& source) {
    command.add("--model", source.model, "A model by its published sizes")
        .one_of(published_models());
    command
        .add("--from", source.from, "A report of train_mnist --json, in place of a model")
        .type_name("FILE");
    command.add("--forward-ms", source.forward_ms, "Time of a model's forward pass");
    command.add("--backward-ms", source.backward_ms,
                "Time of its backward pass, without waiting");
    command
        .add("--bucket-cap-mb", source.caps_mb,
             "Bucket sizes in MiB, with commas; 0: a bucket per gradient (25, or as in "
             "the report)")
        .split_at(',');
}

constexpr double kMaxMs = 3.6e6;  // an hour
constexpr double kMaxMb = 1e6;

// Throws UsageError, which names the option, unless 0 <= value <= most.
void check_range(const char* option, double value, double most) {
    if (!(value >= 0 && value <= most))
        throw UsageError(concat(option, " is ", value, ", and must be from 0 to ", most));
}

void check_sizes(const char* option, const std::vector<double>& sizes_mb) {
    for (const double mb : sizes_mb) check_range(option, mb, kMaxMb);
}

// Returns the profile of a source, and sets its bucket sizes if none were given. Throws
// UsageError if `command` has a report and a model's options or a value out of range, and
// BadFile.
StepProfile chosen_profile(const Command& command, Source& source) {
    check_range("--forward-ms", source.forward_ms, kMaxMs);
    check_range("--backward-ms", source.backward_ms, kMaxMs);
    check_sizes("--bucket-cap-mb", source.caps_mb);
    if (source.from.empty()) {
        if (source.caps_mb.empty()) source.caps_mb = {25};  // as in parallel::DDPOptions
        return profile_of(published_model(source.model),
                          source.forward_ms / kMilliseconds,
                          source.backward_ms / kMilliseconds);
    }
    for (const char* const option : {"--model", "--forward-ms", "--backward-ms"})
        if (command.given(option))
            throw UsageError(concat(option, " cannot be given with --from: a report has ",
                                    "its own gradients and times"));
    StepProfile profile;
    read_json(source.from, [&](const nlohmann::json& report) {
        profile = reported_profile(report);
        if (source.caps_mb.empty()) source.caps_mb = {report.at("bucket_cap_mb")};
    });
    std::ranges::stable_sort(profile.gradients, {}, &training::GradientTime::ready);
    return profile;
}

// ---- step

struct StepOptions {
    Source source;
    std::vector<int> ranks = {2, 8, 64, 256};
    std::string link = "100Gbit,10us", algorithm = "auto";
    bool overlaps = true;
    bool json = false;
};

struct StepRow {
    int ranks = 0;
    double cap_mb = 0;
    size_t buckets = 0;
    StepTimes times{};
    double efficiency = 1;
    double wall_seconds = 0;
};

StepRow simulate_row(const StepProfile& profile, const StepCluster& cluster,
                     double cap_mb) {
    const auto buckets = buckets_of(profile, cap_mb);
    StepRow row{.ranks = cluster.ranks, .cap_mb = cap_mb, .buckets = buckets.size()};
    const auto start = std::chrono::steady_clock::now();
    row.times = simulate_step(profile, buckets, cluster);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    row.wall_seconds = wall.count();
    const double alone = profile.forward + profile.backward;
    if (row.times.step > 0) row.efficiency = alone / row.times.step;
    return row;
}

void print_head(const StepProfile& profile, const StepOptions& options) {
    int64_t bytes = 0;
    for (const auto& gradient : profile.gradients) bytes += gradient.bytes;
    fmt::print(
        "# {}: {} parameters in {} gradients; forward {:.2f} ms, backward {:.2f} ms\n",
        options.source.name(), with_commas(bytes / static_cast<int64_t>(sizeof(float))),
        profile.gradients.size(), profile.forward * kMilliseconds,
        profile.backward * kMilliseconds);
    fmt::print("# links {}, algorithm {}, {}overlap\n", options.link, options.algorithm,
               options.overlaps ? "" : "no ");
    fmt::print("{:>6}{:>9}{:>9}{:>10}{:>12}{:>10}{:>12}{:>9}  {}\n", "ranks", "cap MiB",
               "buckets", "comm ms", "exposed ms", "step ms", "efficiency", "wall s",
               "algorithm");
}

void print_row(const StepRow& row) {
    const StepTimes& t = row.times;
    fmt::print(
        "{:>6}{:>9g}{:>9}{:>10.2f}{:>12.2f}{:>10.2f}{:>10.1f} %{:>9.2f}  {}\n", row.ranks,
        row.cap_mb, row.buckets, t.communication * kMilliseconds,
        t.exposed * kMilliseconds, t.step * kMilliseconds, 100 * row.efficiency,
        row.wall_seconds,
        t.algorithms.empty() ? "-" : fmt::format("{}", fmt::join(t.algorithms, ",")));
    std::fflush(stdout);  // the next row may take a while
}

nlohmann::json json_of(const StepRow& row) {
    return {{"ranks", row.ranks},
            {"bucket_cap_mb", row.cap_mb},
            {"buckets", row.buckets},
            {"communication_seconds", row.times.communication},
            {"exposed_seconds", row.times.exposed},
            {"step_seconds", row.times.step},
            {"efficiency", row.efficiency}};
}

void run(const Command& command, StepOptions& options) {
    StepCluster cluster{.links = dist::parse_links(options.link),
                        .algorithm = dist::parse_algorithm(options.algorithm),
                        .overlaps = options.overlaps};
    const StepProfile profile = chosen_profile(command, options.source);
    if (!options.json) print_head(profile, options);
    nlohmann::json rows = nlohmann::json::array();
    for (const int ranks : options.ranks)
        for (const double cap_mb : options.source.caps_mb) {
            cluster.ranks = ranks;
            const StepRow row = simulate_row(profile, cluster, cap_mb);
            options.json ? rows.push_back(json_of(row)) : print_row(row);
        }
    if (options.json) fmt::print("{}\n", nlohmann::json{{"rows", rows}}.dump());
}

// ---- buckets

struct BucketsOptions {
    Source source;
    int ranks = 8;
    std::vector<double> firsts_mb = {kFirstBucketMb};
    std::string link = "100Gbit,10us";
    bool json = false;
};

// The buckets of two limits, and their timeline.
struct BucketsRow {
    double first_mb = 0, cap_mb = 0;
    BucketIndices indices{};  // of the gradients, for each bucket
    std::vector<training::BucketTime> times{};
    double all_reduces = 0;  // the sum of their seconds
    double exposed = 0;      // seconds from the end of backward to the last average
};

// Returns the time of one bucket's all-reduce, by the algorithm that libmini chooses.
AllReduceSeconds all_reduce_seconds(const BucketsOptions& options) {
    const dist::Links links = dist::parse_links(options.link);
    const int P = options.ranks;
    return [links, P, hosts = dist::hosts_of(links, P)](int64_t bytes) {
        const auto size = static_cast<size_t>(bytes);
        return all_reduce_seconds_on(links, dist::choose_algorithm(size, P, hosts, false),
                                     P, size);
    };
}

BucketsRow row_of(const StepProfile& profile, double first_mb, double cap_mb,
                  const AllReduceSeconds& seconds) {
    BucketsRow row{.first_mb = first_mb, .cap_mb = cap_mb};
    row.indices = assign_buckets(profile.gradients, cap_mb, first_mb);
    row.times = bucket_timeline(profile.gradients, row.indices, seconds);
    for (const auto& bucket : row.times) row.all_reduces += bucket.end - bucket.begin;
    row.exposed = std::max(0.0, row.times.back().end - profile.backward);
    return row;
}

std::string gradient_name(const StepProfile& profile, size_t index) {
    return profile.names.empty() ? fmt::format("gradient {}", index)
                                 : profile.names[index];
}

void print_row(const StepProfile& profile, const BucketsRow& row) {
    fmt::print("\n# first bucket of {:g} MiB, others of {:g} MiB\n",
               std::min(row.first_mb, row.cap_mb), row.cap_mb);
    fmt::print("{:>6}{:>11}{:>12}{:>10}{:>10}{:>8}  {}\n", "bucket", "gradients", "bytes",
               "ready ms", "begin ms", "end ms", "last gradient");
    for (size_t i = 0; i < row.times.size(); ++i) {
        const training::BucketTime& bucket = row.times[i];
        fmt::print("{:>6}{:>11}{:>12}{:>10.2f}{:>10.2f}{:>8.2f}  {}\n", i,
                   row.indices[i].size(), with_commas(bucket.bytes),
                   bucket.ready * kMilliseconds, bucket.begin * kMilliseconds,
                   bucket.end * kMilliseconds,
                   gradient_name(profile, row.indices[i].back()));
    }
    const double compute = profile.forward + profile.backward;
    fmt::print(
        "all-reduces take {:.2f} ms, {:.2f} ms of them after backward\n"
        "a step takes {:.2f} ms, and without overlap {:.2f} ms\n",
        row.all_reduces * kMilliseconds, row.exposed * kMilliseconds,
        (compute + row.exposed) * kMilliseconds,
        (compute + row.all_reduces) * kMilliseconds);
}

nlohmann::json json_of(const BucketsRow& row) {
    nlohmann::json buckets = nlohmann::json::array();
    for (size_t i = 0; i < row.times.size(); ++i)
        buckets.push_back({{"gradients", row.indices[i]},
                           {"bytes", row.times[i].bytes},
                           {"ready_seconds", row.times[i].ready},
                           {"begin_seconds", row.times[i].begin},
                           {"end_seconds", row.times[i].end}});
    return {{"first_bucket_mb", row.first_mb},
            {"bucket_cap_mb", row.cap_mb},
            {"all_reduce_seconds", row.all_reduces},
            {"exposed_seconds", row.exposed},
            {"buckets", buckets}};
}

nlohmann::json json_of(const StepProfile& profile, const std::vector<BucketsRow>& rows) {
    nlohmann::json gradients = nlohmann::json::array();
    nlohmann::json json_rows = nlohmann::json::array();
    for (size_t i = 0; i < profile.gradients.size(); ++i)
        gradients.push_back({{"name", gradient_name(profile, i)},
                             {"bytes", profile.gradients[i].bytes},
                             {"ready_seconds", profile.gradients[i].ready}});
    for (const BucketsRow& row : rows) json_rows.push_back(json_of(row));
    return {{"forward_seconds", profile.forward},
            {"backward_seconds", profile.backward},
            {"gradients", gradients},
            {"rows", json_rows}};
}

void run(const Command& command, BucketsOptions& options) {
    const StepProfile profile = chosen_profile(command, options.source);
    check_sizes("--first-bucket-mb", options.firsts_mb);
    const auto seconds = all_reduce_seconds(options);
    std::vector<BucketsRow> rows;
    for (const double first : options.firsts_mb)
        for (const double cap : options.source.caps_mb)
            rows.push_back(row_of(profile, first, cap, seconds));
    if (options.json) {
        fmt::print("{}\n", json_of(profile, rows).dump());
        return;
    }
    fmt::print("# {}: {} gradients; forward {:.2f} ms, backward {:.2f} ms\n",
               options.source.name(), profile.gradients.size(),
               profile.forward * kMilliseconds, profile.backward * kMilliseconds);
    fmt::print("# {} ranks, links {}\n", options.ranks, options.link);
    for (const BucketsRow& row : rows) print_row(profile, row);
}

}  // namespace

void add_step(Command& simulate) {
    Command step = simulate.add_command(
        "step",
        "A step of DistributedDataParallel: compute, communication, what overlaps");
    const auto options = std::make_shared<StepOptions>();
    StepOptions& o = *options;
    add_source(step, o.source);
    step.add("--ranks", o.ranks, "How many; several with commas")
        .split_at(',')
        .range(1, kMaxRanks);
    step.add("--link", o.link,
             "Rate and delay, and hosts and slow links: as in simulate allreduce");
    step.add("--algorithm", o.algorithm, "Of the all-reduces: auto, ring, tree, ...");
    step.add_flag("!--no-overlap", o.overlaps,
                  "Start all-reduces when backward has ended");
    step.add_flag("--json", o.json, "Print JSON");
    step.on_parsed([step, options] { run(step, *options); });
}

void add_buckets(Command& simulate) {
    Command buckets = simulate.add_command(
        "buckets", "The buckets of a model's gradients, and how backward hides them");
    const auto options = std::make_shared<BucketsOptions>();
    BucketsOptions& o = *options;
    add_source(buckets, o.source);
    buckets.add("--ranks", o.ranks, "How many").range(1, kMaxRanks);
    buckets
        .add("--first-bucket-mb", o.firsts_mb,
             "Sizes of the first bucket, with commas; at most that of the others")
        .split_at(',');
    buckets.add("--link", o.link, "Rate and delay, and hosts: as in simulate step");
    buckets.add_flag("--json", o.json, "Print JSON");
    buckets.on_parsed([buckets, options] { run(buckets, *options); });
}

}  // namespace mini::lab20
