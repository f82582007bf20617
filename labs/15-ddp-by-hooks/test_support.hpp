// Helpers for the checks of lab 15: ranks as threads, a group that records the calls, and
// small models.
//
// WatchedGroup makes mistakes with asynchronous calls visible without a clock: it runs an
// operation only when its Work is waited for. Without a wait the operation never runs. If
// the operation's input has changed since the start, wait() throws. The member `journal`
// lists the starts and the waits in their order.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab15 {

using labs::Values;
using Journal = std::vector<std::string>;  // "start all_reduce 8", "wait all_reduce 8"

inline std::string in_words(const Journal& journal) {
    std::string text;
    for (const std::string& line : journal) text += (text.empty() ? "" : ", ") + line;
    return text.empty() ? "nothing" : text;
}

// Returns the values of all tensors; integers are converted to floats.
inline Values values_of(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) tensor = ops::to(tensor, DType::kFloat32);
    return labs::values_of(tensors);
}

// ---- a group that records the calls

// Returns the values that an operation reads on a rank.
inline Values read_by(const dist::Call& call, int rank) {
    if (call.operation == dist::Operation::kBroadcast && call.root != rank) return {};
    return values_of(call.inputs.empty() ? call.outputs : call.inputs);
}

class WatchedGroup : public dist::ProcessGroup {
  public:
    explicit WatchedGroup(dist::ProcessGroup& group) : group_(group) {}

    // Lines are "start all_reduce 8" and "wait all_reduce 8", with the payload's bytes.
    Journal journal;

    Journal lines_with(const std::string& beginning) const {
        Journal found;
        for (const std::string& line : journal)
            if (line.starts_with(beginning)) found.push_back(line);
        return found;
    }

    int rank() const override { return group_.rank(); }
    int world_size() const override { return group_.world_size(); }
    std::string backend() const override { return group_.backend(); }
    std::chrono::milliseconds timeout() const override { return group_.timeout(); }
    EventLog& events() override { return group_.events(); }
    void shutdown() override { group_.shutdown(); }
    std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) override {
        return group_.new_group(ranks);
    }

    dist::WorkHandle start(dist::Call call) override {
        const std::string name =
            concat(dist::operation_name(call.operation), ' ', dist::payload_bytes(call));
        journal.push_back("start " + name);
        return std::make_shared<LazyWork>(*this, std::move(call), name);
    }

  private:
    // Runs the operation in the first wait().
    class LazyWork : public dist::Work {
      public:
        LazyWork(WatchedGroup& watched, dist::Call call, std::string name)
            : watched_(watched),
              call_(std::move(call)),
              name_(std::move(name)),
              read_(read_by(call_, watched.rank())) {}
        bool is_completed() const override { return work_ != nullptr; }
        void wait() override {
            if (work_) return;
            watched_.journal.push_back("wait " + name_);
            if (read_by(call_, watched_.rank()) != read_)
                throw Error(
                    concat("rank ", watched_.rank(), " has changed the tensor of ", name_,
                           " between the start and the wait: in between it belongs "
                           "to the operation"));
            work_ = watched_.group_.start(std::move(call_));
            work_->wait();
        }

      private:
        WatchedGroup& watched_;
        dist::Call call_;
        std::string name_;
        Values read_;
        dist::WorkHandle work_;
    };

    dist::ProcessGroup& group_;
};

// ---- ranks, and their results

// Runs body(watched group) on every rank, each in its own thread; returns the results,
// indexed by rank.
template <typename Body>
auto on_ranks(int world_size, const Body& body) {
    return labs::on_ranks(world_size, [&](dist::ProcessGroup& group) {
        return body(std::make_shared<WatchedGroup>(group));
    });
}

// Returns the gradients of all parameters; zeros for a parameter without a gradient.
inline Values gradients_of(const nn::Module& module) {
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : module.parameters())
        gradients.push_back(parameter.grad().defined()
                                ? parameter.grad()
                                : Tensor::zeros(parameter.shape()));
    return values_of(gradients);
}

// Describes the value `got` on `rank`, whose own gradient is rank + 1.
inline std::string diagnosis(float got, int rank, int ranks) {
    const auto is = [got](float value) { return std::abs(got - value) < 1e-5f; };
    const auto count = static_cast<float>(ranks);
    const float mean = (count + 1) / 2;
    if (is(mean)) return "the mean, as it should be";
    if (is(mean * count)) return "the sum: it was not divided by the number of ranks";
    if (is(mean / count)) return "the mean divided once more by the number of ranks";
    if (is(static_cast<float>(rank + 1)))
        return "this rank's own gradient: no all-reduce of it, in place, was waited for";
    if (is(static_cast<float>(rank + 1) / count))
        return "this rank's own gradient, divided: no all-reduce was waited for";
    return "neither the mean, nor the sum, nor this rank's own gradient";
}

// ---- models

// Weights `a` (2 floats) and `b` (1 float). The weight that is used last gets its
// gradient first: `b`, or `a` if reversed. All three numbers have the gradient x.
class TwoWeights : public nn::Module {
  public:
    explicit TwoWeights(bool reversed = false) : reversed_(reversed) {
        register_parameter("a", a);
        register_parameter("b", b);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor first = sum(x * (reversed_ ? b : a));
        return first + sum(x * (reversed_ ? a : b));  // the operands of + have no order
    }

    Tensor a = Tensor::ones({2});
    Tensor b = Tensor::ones({1});

  private:
    bool reversed_;
};

// A layer, a frozen parameter, and buffers of floats and of integers. All values differ
// between the ranks.
class WithState : public nn::Module {
  public:
    explicit WithState(int rank) {
        register_module("fc", fc);
        frozen = register_parameter("frozen", Tensor::full({2}, 20 + rank));
        frozen.set_requires_grad(false);
        mean = register_buffer("mean", Tensor::full({3}, 30 + rank));
        count = register_buffer("count", Tensor::full({1}, 40 + rank, DType::kInt64));
        for (Tensor parameter : {fc.weight, fc.bias}) {
            Tensor values = parameter.detach();
            ops::fill_(values, static_cast<float>(10 + rank));
        }
    }
    Tensor forward(const Tensor& x) override { return fc(x); }

    nn::Linear fc{3, 2};
    Tensor frozen, mean, count;
};

inline Values state_of(const nn::Module& module) {
    Values all = values_of(module.parameters());
    const Values buffers = values_of(module.buffers());
    all.insert(all.end(), buffers.begin(), buffers.end());
    return all;
}

}  // namespace mini::lab15
