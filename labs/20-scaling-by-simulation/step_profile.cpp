#include "labs/20-scaling-by-simulation/step_profile.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "libmini/core/error.hpp"
#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/ddp_options.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::lab20 {
namespace {

static_assert(kFirstBucketMb * parallel::kBytesPerMib == parallel::kFirstBucketBytes);

// Returns a size limit in bytes, at least 1.
int64_t limit_of(double mb) {
    return std::max(int64_t{1}, static_cast<int64_t>(mb * parallel::kBytesPerMib));
}

}  // namespace

StepProfile profile_of(const std::vector<ModelParameter>& parameters, double forward,
                       double backward) {
    double all = 0, passed = 0;
    for (const ModelParameter& parameter : parameters) all += parameter.cost;
    StepProfile profile{.forward = forward, .backward = backward, .gradients = {}};
    for (size_t i = parameters.size(); i-- > 0;) {
        passed += parameters[i].cost;
        profile.gradients.push_back(
            {.bytes = parameters[i].numel * static_cast<int64_t>(sizeof(float)),
             .ready = std::min(backward, backward * passed / all)});
        profile.names.push_back(parameters[i].name);
    }
    return profile;
}

BucketIndices assign_buckets(const std::vector<training::GradientTime>& gradients,
                             double cap_mb, double first_mb) {
    std::vector<Tensor> sizes;  // memory that no code reads or writes
    for (const training::GradientTime& gradient : gradients)
        sizes.push_back(
            Tensor::empty({gradient.bytes / static_cast<int64_t>(sizeof(float))}));
    return parallel::compute_bucket_assignment(
        sizes, {limit_of(std::min(first_mb, cap_mb)), limit_of(cap_mb)});
}

void read_json(const std::string& path,
               const std::function<void(const nlohmann::json&)>& read) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw BadFile(path, ": cannot be read; does it exist?");
    try {
        read(nlohmann::json::parse(text));
    } catch (const std::exception& error) {
        throw BadFile(path, ": ", error.what());
    }
}

StepProfile reported_profile(const nlohmann::json& report) {
    const nlohmann::json& means = report.at("statistics");
    StepProfile profile{.forward = means.at("forward_s"),
                        .backward = means.at("backward_s"),
                        .gradients = {}};
    for (const nlohmann::json& entry : means.at("gradients"))
        profile.gradients.push_back(
            {.bytes = entry.at("bytes"), .ready = entry.at("ready_s")});
    if (profile.gradients.empty())
        throw Error("it has no gradients: train with --sync ddp");
    return profile;
}

}  // namespace mini::lab20
