// predict_step: the time of a training step, predicted from measured parts or assumed
// ones, without a simulation of messages: milliseconds for any number of ranks.
//
//     predict_step --bench bench.json --run rank0.json,rank1.json --ranks 2
//     predict_step --model resnet50 --ranks 1,8,256 --link "20Gbit,20us; hosts of 8: ..."
//
// The first form predicts each way to exchange gradients (prediction.hpp). The second
// form predicts a step of DistributedDataParallel with rings, like
// `simulate step --algorithm ring`, which simulates it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"
#include "labs/20-scaling-by-simulation/prediction.hpp"
#include "labs/20-scaling-by-simulation/published_models.hpp"
#include "labs/20-scaling-by-simulation/reports.hpp"
#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/program/command_line.hpp"

using namespace mini;

namespace {

constexpr double kMilliseconds = 1e3;  // per second

struct Options {
    std::string bench;
    std::vector<std::string> runs;
    std::string model = "resnet50", link = "20Gbit,20us; hosts of 8: 1000Gbit,5us";
    double forward_ms = 35, backward_ms = 70;
    std::vector<int> ranks = {2};
    std::vector<double> caps_mb = {25};
    bool json = false;
};

void print_measured(const Options& options) {
    const auto rank = lab20::read_computation(options.runs);
    const auto link = lab20::fit_bench(options.bench);
    const int P = options.ranks.front();
    const auto rows = lab20::predict(
        rank, P, lab20::assign_buckets(rank.gradients, options.caps_mb.front()),
        [&](int64_t bytes) { return lab20::all_reduce_seconds(link.fit, P, bytes); });
    if (options.json) {
        nlohmann::json json = {{"alpha_s", link.fit.alpha},
                               {"beta_s", link.fit.beta},
                               {"fit_error", link.largest_error}};
        for (const lab20::Prediction& row : rows)
            json["steps"][row.sync] = {{"step_s", row.step},
                                       {"all_reduces_s", row.all_reduces},
                                       {"hidden", row.hidden}};
        std::cout << json.dump() << '\n';
        return;
    }
    std::cout << fmt::format(
        "alpha {:.3f} ms, beta {:.2f} ns per byte; largest error of the fit {:.1f} %\n"
        "computation: forward {:.2f} ms, backward {:.2f} ms, others {:.2f} ms\n\n"
        "{:<10}{:>12}{:>16}{:>10}\n",
        link.fit.alpha * kMilliseconds, link.fit.beta * 1e9, 100 * link.largest_error,
        rank.forward * kMilliseconds, rank.backward * kMilliseconds,
        rank.others * kMilliseconds, "sync", "step ms", "all-reduces ms", "hidden");
    for (const lab20::Prediction& row : rows)
        std::cout << fmt::format("{:<10}{:>12.2f}{:>16.2f}{:>8.0f} %\n", row.sync,
                                 row.step * kMilliseconds,
                                 row.all_reduces * kMilliseconds, 100 * row.hidden);
}

double step_of_model(const lab20::StepProfile& profile, const dist::Links& links, int P,
                     double cap_mb) {
    const auto timeline = lab20::bucket_timeline(
        profile.gradients, lab20::assign_buckets(profile.gradients, cap_mb),
        [&](int64_t bytes) {
            return lab20::all_reduce_seconds_on(links, dist::Algorithm::kRing, P,
                                                static_cast<size_t>(bytes));
        });
    double end = profile.backward;
    for (const training::BucketTime& bucket : timeline) end = std::max(end, bucket.end);
    return profile.forward + end;
}

void print_model(const Options& options) {
    const auto profile = lab20::profile_of(lab20::published_model(options.model),
                                           options.forward_ms / kMilliseconds,
                                           options.backward_ms / kMilliseconds);
    const dist::Links links = dist::parse_links(options.link);
    nlohmann::json rows = nlohmann::json::array();
    if (!options.json)
        std::cout << fmt::format("{:>6}{:>10}{:>12}\n", "ranks", "cap MiB", "step ms");
    for (const int P : options.ranks)
        for (const double cap : options.caps_mb) {
            const double step = step_of_model(profile, links, P, cap);
            if (options.json)
                rows.push_back({{"ranks", P}, {"bucket_cap_mb", cap}, {"step_s", step}});
            else
                std::cout << fmt::format("{:>6}{:>10g}{:>12.2f}\n", P, cap,
                                         step * kMilliseconds);
        }
    if (options.json) std::cout << rows.dump() << '\n';
}

bool parse(int argc, char** argv, Options& o) {
    CommandLine line("Predicts the time of a training step.", "predict_step");
    const Option bench =
        line.add("--bench", o.bench, "Output of mini bench allreduce --format json")
            .type_name("FILE");
    Option runs =
        line.add("--run", o.runs, "Reports of train_mnist --sync ddp --json on one rank")
            .type_name("FILE,...")
            .split_at(',');
    runs.needs(bench);
    line.add("--model", o.model, "Without --bench: a model by its published sizes")
        .one_of(lab20::published_models());
    line.add("--forward-ms", o.forward_ms, "Time of a model's forward pass").at_least(0);
    line.add("--backward-ms", o.backward_ms, "Time of its backward pass").at_least(0);
    line.add("--link", o.link, "As in simulate step");
    line.add("--ranks", o.ranks, "How many; without --bench, several with commas")
        .split_at(',')
        .range(1, 4096);
    line.add("--bucket-cap-mb", o.caps_mb, "Bucket sizes in MiB, with commas")
        .split_at(',');
    line.add_flag("--json", o.json, "Print JSON");
    return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) try {
    Options options;
    if (!parse(argc, argv, options)) return 0;
    options.bench.empty() ? print_model(options) : print_measured(options);
    return 0;
} catch (const UsageError& error) {
    std::cerr << "predict_step: " << error.what() << '\n';
    return 2;
} catch (const std::exception& error) {
    std::cerr << "predict_step: " << error.what() << '\n';
    return 1;
}
