#include "libmini/extras/scaling/step_profile.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "libmini/core/error.hpp"
#include "libmini/extras/scaling/bucket_timeline.hpp"

namespace mini::scaling {
namespace {

using training::GradientTime;

constexpr int64_t kFloatBytes = sizeof(float);
constexpr int64_t kMaxGradientBytes = int64_t{1} << 36;
constexpr double kMaxSeconds = 3600;

// Returns a number of the report. Throws Error if the number is not from 0 to `most`.
double number_of(const nlohmann::json& object, const char* key, double most) {
    const double number = object.at(key).get<double>();
    if (!(number >= 0 && number <= most))
        throw Error(concat(key, " is ", number, ", and must be from 0 to ", most));
    return number;
}

GradientTime gradient_of(const nlohmann::json& entry) {
    const GradientTime gradient{.bytes = entry.at("bytes").get<int64_t>(),
                                .ready = number_of(entry, "ready_s", kMaxSeconds)};
    if (gradient.bytes < kFloatBytes || gradient.bytes > kMaxGradientBytes ||
        gradient.bytes % kFloatBytes != 0)
        throw Error(concat("a gradient has ", gradient.bytes,
                           " bytes, and must have 4 or more, a multiple of 4"));
    return gradient;
}

MeasuredStep step_of(const nlohmann::json& report) {
    const nlohmann::json& means = report.at("statistics");
    MeasuredStep step;
    step.bucket_cap_mb = number_of(report, "bucket_cap_mb", kMaxCapMb);
    step.profile.forward = number_of(means, "forward_s", kMaxSeconds);
    step.profile.backward = number_of(means, "backward_s", kMaxSeconds);
    for (const nlohmann::json& entry : means.at("gradients"))
        step.profile.gradients.push_back(gradient_of(entry));
    if (step.profile.gradients.empty())
        throw Error("it has no gradients: train with --sync ddp");
    std::ranges::stable_sort(step.profile.gradients, {}, &GradientTime::ready);
    return step;
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
            {.bytes = parameters[i].numel * kFloatBytes,
             .ready = std::min(backward, backward * passed / all)});
        profile.names.push_back(parameters[i].name);
    }
    return profile;
}

MeasuredStep read_step(const std::string& path) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw BadFile(concat(path, ": cannot be read; does it exist?"));
    try {
        return step_of(nlohmann::json::parse(text));
    } catch (const std::exception& error) {
        throw BadFile(
            concat(path, ": not a report of train_mnist --json: ", error.what()));
    }
}

std::vector<StepBucket> buckets_of(const StepProfile& profile, double cap_mb) {
    std::vector<StepBucket> buckets;
    for (const auto& indices : assign_buckets(profile.gradients, cap_mb)) {
        StepBucket bucket;
        for (const size_t index : indices) {
            bucket.bytes += profile.gradients[index].bytes;
            bucket.ready = std::max(bucket.ready, profile.gradients[index].ready);
        }
        buckets.push_back(bucket);
    }
    return buckets;
}

}  // namespace mini::scaling
