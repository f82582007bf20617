#include "labs/20-scaling-by-simulation/reports.hpp"

#include <nlohmann/json.hpp>
#include <numeric>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/collective.hpp"

namespace mini::lab20 {
namespace {

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

}  // namespace mini::lab20
