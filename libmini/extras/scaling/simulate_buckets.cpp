// mini simulate buckets: the buckets of a model, and when each of them is all-reduced.
//
//     $ mini simulate buckets --model resnet18 --backward-ms 30 --link 25Gbit,20us
//     bucket  gradients       bytes  ready ms  begin ms  end ms  last gradient
//          0          2   2,052,000      0.01      0.01    1.44  fc.weight
//          1         12  28,852,224      5.84      5.84   22.27  layer4.0.conv2.weight
//          2         48  15,853,824     30.00     30.00   39.16  conv1.weight
//
//     ready ms       the last gradient is ready; times since the end of forward
//     begin, end     of the bucket's all-reduce, by formula (all_reduce_on_links.hpp)
//
// The view of one rank, with all ranks alike, as bucket_timeline.hpp predicts it: a table
// takes milliseconds. mini simulate step simulates the messages of all ranks.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/scaling/all_reduce_on_links.hpp"
#include "libmini/extras/scaling/bucket_timeline.hpp"
#include "libmini/extras/scaling/simulate.hpp"
#include "libmini/extras/scaling/step_options.hpp"
#include "libmini/extras/scaling/step_profile.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::scaling {
namespace {

using training::BucketTime;

constexpr double kMsPerSecond = 1e3;
constexpr int kMaxBucketRanks = 4096;

struct BucketsOptions {
    ProfileOptions of;
    int ranks = 8;
    std::vector<double> caps_mb;  // empty: the step's own
    std::vector<double> firsts_mb = {kFirstBucketMb};
    std::string link = "100Gbit,10us";
    std::string algorithm = "auto";
    std::string format = "table";
};

// The buckets of two limits, and their timeline.
struct BucketsRow {
    double first_mb = 0, cap_mb = 0;
    BucketIndices indices{};  // of the gradients, for each bucket
    std::vector<BucketTime> times{};
    double all_reduces = 0;  // the sum of their seconds
    double exposed = 0;      // seconds from the end of backward to the last average
};

// Returns the time of one bucket's all-reduce.
AllReduceSeconds all_reduce_seconds(const BucketsOptions& options) {
    const dist::Links links = dist::parse_links(options.link);
    const int P = options.ranks;
    return [links, P, hosts = dist::hosts_of(links, P),
            algorithm = dist::parse_algorithm(options.algorithm)](int64_t bytes) {
        const auto size = static_cast<size_t>(bytes);
        const auto chosen = algorithm == dist::Algorithm::kAuto
                                ? dist::choose_algorithm(size, P, hosts, false)
                                : algorithm;
        return all_reduce_seconds_on(links, chosen, P, size);
    };
}

BucketsRow row_of(const StepProfile& profile, double first_mb, double cap_mb,
                  const AllReduceSeconds& seconds) {
    BucketsRow row{.first_mb = first_mb, .cap_mb = cap_mb};
    row.indices = assign_buckets(profile.gradients, cap_mb, first_mb);
    row.times = bucket_timeline(profile.gradients, row.indices, seconds);
    for (const BucketTime& bucket : row.times)
        row.all_reduces += bucket.end - bucket.begin;
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
        const BucketTime& bucket = row.times[i];
        fmt::print("{:>6}{:>11}{:>12}{:>10.2f}{:>10.2f}{:>8.2f}  {}\n", i,
                   row.indices[i].size(), with_commas(bucket.bytes),
                   bucket.ready * kMsPerSecond, bucket.begin * kMsPerSecond,
                   bucket.end * kMsPerSecond,
                   gradient_name(profile, row.indices[i].back()));
    }
    const double compute = profile.forward + profile.backward;
    fmt::print(
        "all-reduces take {:.2f} ms, {:.2f} ms of them after backward\n"
        "a step takes {:.2f} ms, and without overlap {:.2f} ms\n",
        row.all_reduces * kMsPerSecond, row.exposed * kMsPerSecond,
        (compute + row.exposed) * kMsPerSecond,
        (compute + row.all_reduces) * kMsPerSecond);
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

nlohmann::json json_of(const StepProfile& profile, const BucketsOptions& options,
                       const std::vector<BucketsRow>& rows) {
    nlohmann::json gradients = nlohmann::json::array();
    nlohmann::json json_rows = nlohmann::json::array();
    for (size_t i = 0; i < profile.gradients.size(); ++i)
        gradients.push_back({{"name", gradient_name(profile, i)},
                             {"bytes", profile.gradients[i].bytes},
                             {"ready_seconds", profile.gradients[i].ready}});
    for (const BucketsRow& row : rows) json_rows.push_back(json_of(row));
    return {{"model", options.of.name()},
            {"forward_seconds", profile.forward},
            {"backward_seconds", profile.backward},
            {"ranks", options.ranks},
            {"link", options.link},
            {"algorithm", options.algorithm},
            {"gradients", gradients},
            {"rows", json_rows}};
}

void run(const Command& command, const BucketsOptions& options) {
    const MeasuredStep step = step_of(command, options.of);
    const StepProfile& profile = step.profile;
    const std::vector<double> caps_mb = caps_of(options.caps_mb, step);
    check_bucket_sizes("--bucket-cap-mb", caps_mb);
    check_bucket_sizes("--first-bucket-mb", options.firsts_mb);
    const auto seconds = all_reduce_seconds(options);
    std::vector<BucketsRow> rows;
    for (const double first : options.firsts_mb)
        for (const double cap : caps_mb)
            rows.push_back(row_of(profile, first, cap, seconds));
    if (options.format == "json") {
        fmt::print("{}\n", json_of(profile, options, rows).dump());
        return;
    }
    fmt::print("# {}: {} gradients; forward {:.2f} ms, backward {:.2f} ms\n",
               options.of.name(), profile.gradients.size(),
               profile.forward * kMsPerSecond, profile.backward * kMsPerSecond);
    fmt::print("# {} ranks, links {}, algorithm {}\n", options.ranks, options.link,
               options.algorithm);
    for (const BucketsRow& row : rows) print_row(profile, row);
}

}  // namespace

void add_simulate_buckets(Command& simulate) {
    Command buckets = simulate.add_command(
        "buckets", "The buckets of a model's gradients, and how backward hides them");
    const auto options = std::make_shared<BucketsOptions>();
    BucketsOptions& o = *options;
    add_profile_options(buckets, o.of);
    buckets.add("--ranks", o.ranks, "How many (8)").range(1, kMaxBucketRanks);
    add_caps_option(buckets, o.caps_mb);
    buckets
        .add("--first-bucket-mb", o.firsts_mb,
             "Sizes of the first bucket, with commas; at most that of the others (1)")
        .split_at(',');
    buckets.add("--link", o.link, "Rate and delay, and hosts: as in mini simulate step");
    buckets.add("--algorithm", o.algorithm,
                "Of the all-reduces: auto, ring, tree, ... (auto)");
    buckets.add("--format", o.format, "table or json").one_of({"table", "json"});
    buckets.on_parsed([buckets, options] { run(buckets, *options); });
}

}  // namespace mini::scaling
