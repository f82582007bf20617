#include "labs/20-scaling-by-simulation/prediction.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/all_reduce_time.hpp"
#include "libmini/distributed/transport/collective.hpp"
#include "libmini/extras/scaling/stragglers.hpp"

namespace mini::lab20 {
namespace {

using training::BucketTime;
using training::GradientTime;

// Calls `read` with the JSON of a file.
void read_json(const std::string& path,
               const std::function<void(const nlohmann::json&)>& read) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw BadFile(concat(path, ": cannot be read; does it exist?"));
    try {
        read(nlohmann::json::parse(text));
    } catch (const std::exception& error) {
        throw BadFile(concat(path, ": ", error.what()));
    }
}

Computation computation_of(const nlohmann::json& report) {
    const nlohmann::json& means = report.at("statistics");
    Computation rank{.forward = means.at("forward_s"),
                     .backward = means.at("backward_s"),
                     .gradients = {},
                     .compute = means.at("compute_s")};
    const std::vector<double> epochs = report.at("seconds_per_epoch");
    const double seconds = std::accumulate(epochs.begin(), epochs.end(), 0.0);
    rank.others =
        seconds / means.at("iterations").get<double>() - rank.forward - rank.backward;
    for (const nlohmann::json& entry : means.at("gradients"))
        rank.gradients.push_back(
            {.bytes = entry.at("bytes"), .ready = entry.at("ready_s")});
    if (rank.gradients.empty()) throw Error("it has no gradients: train with --sync ddp");
    return rank;
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

Prediction predict_ddp(const Computation& rank, const scaling::AllReduceSeconds& cost,
                       double bucket_cap_mb) {
    const auto timeline = scaling::bucket_timeline(
        rank.gradients, scaling::assign_buckets(rank.gradients, bucket_cap_mb), cost);
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
    std::vector<scaling::Measurement> measured;
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
    const scaling::LinkFit fit = scaling::fit_link(measured);
    return {fit, scaling::largest_error(fit, measured)};
}

double all_reduce_seconds(const scaling::LinkFit& fit, int P, int64_t bytes) {
    return dist::all_reduce_seconds(chosen(P, bytes), P, static_cast<size_t>(bytes),
                                    fit.alpha, fit.beta);
}

std::vector<Prediction> predict(const Computation& rank, const scaling::LinkFit& fit,
                                int P, double bucket_cap_mb) {
    const auto cost = [&](int64_t bytes) { return all_reduce_seconds(fit, P, bytes); };
    const double wait = scaling::expected_maximum(rank.compute, P) - mean(rank.compute);
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
