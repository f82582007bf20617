// Helpers for the checks of lab 16: ranks as threads, small models, and the event log as
// text. The checks read the order of events from this log, not from a clock.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <future>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/error_of.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/used_parameters.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab16 {

using parallel::Bucket;
using parallel::compute_bucket_assignment;
using parallel::DDPOptions;
using parallel::DistributedDataParallel;

using labs::about;
using labs::ContainsSubstring;
using labs::draw;
using labs::error_of;
using labs::on_ranks;
using labs::Values;
using labs::values_of;
using Indices = std::vector<size_t>;
using Assignment = std::vector<Indices>;

// ---- ranks, models, and the event log

// Parameters 0 fc1.weight, 60 bytes; 1 fc1.bias, 20; 2 fc2.weight, 40; 3 fc2.bias, 8.
class Toy : public nn::Module {
  public:
    Toy() {
        register_module("fc1", fc1);
        register_module("fc2", fc2);
    }
    Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }

    nn::Linear fc1{3, 5};
    nn::Linear fc2{5, 2};
};

// Two weights; the weight used last gets its gradient first: `b`, or `a` if reversed.
class TwoWays : public nn::Module {
  public:
    explicit TwoWays(bool reversed) : reversed_(reversed) {
        register_parameter("a", a);
        register_parameter("b", b);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor first = x * (reversed_ ? b : a);
        return sum(first + x * (reversed_ ? a : b) * 2.0f);
    }

    Tensor a = Tensor::ones({1});
    Tensor b = Tensor::ones({1});

  private:
    bool reversed_;
};

// Computes the sum of x times each weight that is switched on.
class Branches : public nn::Module {
  public:
    Branches() {
        for (const char* name : {"a", "b", "c"}) {
            weights.push_back(register_parameter(name, Tensor::ones({1})));
            on.push_back(true);
        }
    }
    Tensor forward(const Tensor& x) override {
        Tensor y;
        for (size_t i = 0; i < weights.size(); ++i)
            if (on[i]) y = y.defined() ? y + x * weights[i] : x * weights[i];
        return sum(y);
    }

    std::vector<Tensor> weights;
    std::vector<bool> on;
};

// One bucket per parameter, so that the order of the buckets can be checked.
inline const DDPOptions kBucketEach{.first_bucket_bytes = 1,
                                    .bucket_cap_mb = parallel::mib(1)};

inline Values gradients_of(const nn::Module& module) {
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : module.parameters())
        gradients.push_back(parameter.grad());
    return values_of(gradients);
}

inline Assignment assignment_of(const DistributedDataParallel& ddp) {
    Assignment indices;
    for (const Bucket& bucket : ddp.buckets()) indices.push_back(bucket.indices());
    return indices;
}

inline std::vector<int64_t> indices(const std::vector<Event>& log, EventKind kind) {
    std::vector<int64_t> result;
    for (const Event& event : log)
        if (event.kind == kind) result.push_back(event.index);
    return result;
}

// Returns the number of collectives of this name ("all_reduce", "broadcast") in the log.
inline int64_t collectives(const std::vector<Event>& log, std::string_view name) {
    return std::ranges::count_if(log, [&](const Event& event) {
        return event.kind == EventKind::kCollectiveBegin && event.name == name;
    });
}

// Returns the log as text for a failed check: "gradient 3, full 0, launch 0, ...".
inline std::string story(const std::vector<Event>& log) {
    std::string text;
    const auto add = [&](const std::string& word) {
        text += (text.empty() ? "" : ", ") + word;
    };
    for (const Event& event : log) {
        if (event.kind == EventKind::kGradReady) add(concat("gradient ", event.index));
        if (event.kind == EventKind::kBucketReady) add(concat("full ", event.index));
        if (event.kind == EventKind::kBucketLaunch) add(concat("launch ", event.index));
        if (event.kind == EventKind::kBackwardEnd) add("end of backward");
        if (event.kind == EventKind::kBucketDone) add(concat("done ", event.index));
    }
    return text;
}

// Explains unexpected launches: returns `otherwise` if the log has a launch.
inline std::string why_launches_differ(const std::vector<Event>& log,
                                       const std::string& otherwise) {
    if (indices(log, EventKind::kBucketLaunch).empty())
        return "the log has no launch at all: a launch is recorded as kBucketLaunch";
    return otherwise;
}

inline std::string in_words(const Assignment& assignment) {
    std::string text;
    for (const Indices& indices : assignment) text += concat(indices);
    return text;
}

inline std::vector<Tensor> floats(const std::vector<int64_t>& bytes) {
    std::vector<Tensor> tensors;
    for (const int64_t size : bytes) tensors.push_back(Tensor::zeros({size / 4}));
    return tensors;
}

}  // namespace mini::lab16
