#include "labs/20-scaling-by-simulation/prediction.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "labs/20-scaling-by-simulation/stragglers.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/all_reduce_time.hpp"
#include "libmini/distributed/transport/collective.hpp"

namespace mini::lab20 {
namespace {

using training::BucketTime;
using training::GradientTime;

// The computation of one rank, from its report.
Computation computation_of(const nlohmann::json& report) {
    const nlohmann::json& means = report.at("statistics");
    const StepProfile profile = reported_profile(report);
    const std::vector<double> epochs = report.at("seconds_per_epoch");
    const double step = std::accumulate(epochs.begin(), epochs.end(), 0.0) /
                        means.at("iterations").get<double>();
    return {.forward = profile.forward,
            .backward = profile.backward,
            .others = step - profile.forward - profile.backward,
            .gradients = profile.gradients,
            .compute = means.at("compute_s")};
}

// The algorithm that a process group chooses on ranks that share no memory.
dist::Algorithm chosen(int P, int64_t bytes) {
    return dist::choose_algorithm(static_cast<size_t>(bytes), P, {}, false);
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) /
           static_cast<double>(values.size());
}

int64_t total_bytes(const Computation& rank) {
    int64_t bytes = 0;
    for (const GradientTime& gradient : rank.gradients) bytes += gradient.bytes;
    return bytes;
}

Prediction predict_ddp(const Computation& rank, const AllReduceSeconds& cost,
                       double bucket_cap_mb) {
    const auto timeline = bucket_timeline(
        rank.gradients, assign_buckets(rank.gradients, bucket_cap_mb), cost);
    Prediction ddp{.sync = "ddp"};
    double end = rank.backward, hidden = 0;
    for (const BucketTime& bucket : timeline) {
        end = std::max(end, bucket.end);
        ddp.all_reduces += bucket.end - bucket.begin;
        hidden += std::max(0.0, std::min(bucket.end, rank.backward) - bucket.begin);
    }
    ddp.step = rank.others + rank.forward + end;
    ddp.hidden = ddp.all_reduces > 0 ? hidden / ddp.all_reduces : 0;
    return ddp;
}

}  // namespace

Computation read_computation(const std::vector<std::string>& paths) {
    if (paths.empty()) throw UsageError("no reports of train_mnist were given");
    Computation all;
    const auto count = static_cast<double>(paths.size());
    for (const std::string& path : paths)
        read_json(path, [&](const nlohmann::json& report) {
            const Computation one = computation_of(report);
            all.forward += one.forward / count;
            all.backward += one.backward / count;
            all.others += one.others / count;
            all.compute.insert(all.compute.end(), one.compute.begin(), one.compute.end());
            if (all.gradients.empty())
                for (const GradientTime& gradient : one.gradients)
                    all.gradients.push_back({.bytes = gradient.bytes});
            if (all.gradients.size() != one.gradients.size())
                throw Error("it has another number of gradients than the first report");
            for (size_t i = 0; i < one.gradients.size(); ++i)
                all.gradients[i].ready += one.gradients[i].ready / count;
        });
    return all;
}

FittedLink fit_bench(const std::string& path) {
    std::vector<Measurement> measured;
    read_json(path, [&](const nlohmann::json& bench) {
        const int P = bench.at("ranks");
        for (const nlohmann::json& row : bench.at("rows")) {
            const int64_t bytes = row.at("size");
            const auto part = [&](double alpha, double beta) {
                return dist::all_reduce_seconds(chosen(P, bytes), P,
                                                static_cast<size_t>(bytes), alpha, beta);
            };
            measured.push_back({.messages = part(1, 0),
                                .bytes = part(0, 1),
                                .seconds = row.at("time_us").get<double>() / 1e6});
        }
    });
    const LinkFit fit = fit_link(measured);
    return {fit, largest_error(fit, measured)};
}

double all_reduce_seconds(const LinkFit& fit, int P, int64_t bytes) {
    return dist::all_reduce_seconds(chosen(P, bytes), P, static_cast<size_t>(bytes),
                                    fit.alpha, fit.beta);
}

std::vector<Prediction> predict(const Computation& rank, const LinkFit& fit, int P,
                                double bucket_cap_mb) {
    const auto cost = [&](int64_t bytes) { return all_reduce_seconds(fit, P, bytes); };
    const double wait = expected_maximum(rank.compute, P) - mean(rank.compute);
    double each = 0;
    for (const GradientTime& gradient : rank.gradients) each += cost(gradient.bytes);
    const double whole = cost(total_bytes(rank));

    std::vector<Prediction> rows{
        {.sync = "none", .step = rank.step()},
        {.sync = "average", .step = rank.step() + wait + each, .all_reduces = each},
        {.sync = "flat", .step = rank.step() + wait + whole, .all_reduces = whole},
        predict_ddp(rank, cost, bucket_cap_mb)};
    rows.back().step += wait;
    return rows;
}

}  // namespace mini::lab20
