// Helpers for the checks of lab 21: ranks as threads, models whose layers note when they
// compute and which of them are in memory, and the shards that a rank should have.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/error_of.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/values.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/core/error.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/fsdp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab21 {

using labs::about;
using labs::ContainsSubstring;
using labs::draw;
using labs::error_of;
using labs::FiveInOne;
using labs::in_words;
using labs::Journal;
using labs::on_ranks;
using labs::Values;
using labs::values_of;
using labs::WatchedGroup;
using optim::OptimizerState;
using parallel::FullyShardedDataParallel;
using parallel::shard_numel;
using Names = std::vector<std::string>;

// Returns a handle of a group that lives longer.
inline std::shared_ptr<dist::ProcessGroup> handle_of(dist::ProcessGroup& group) {
    return {std::shared_ptr<void>(), &group};
}

// ---- models

// A linear layer and a GELU. With a journal it notes when each pass computes it, and the
// numbers of the layers whose weights are in memory: "forward 1 [1 2]", "backward 1 [0 1]".
class Layer : public nn::Linear {
  public:
    using Linear::Linear;
    Tensor forward(const Tensor& x) override {
        note("forward");
        const Tensor y = gelu(Linear::forward(x));
        return record("Layer", y, {y}, [this](const Tensor& grad, const Node&) -> Grads {
            note("backward");
            if (throws) throw Error("the layer's backward pass failed");
            return {grad};
        });
    }

    void note(const char* what) const {
        if (journal == nullptr) return;
        std::string in_memory;
        for (size_t i = 0; i < all->size(); ++i)
            if (!(*all)[i]->weight.is_freed())
                in_memory += concat(in_memory.empty() ? "" : " ", i);
        journal->push_back(concat(what, " ", number, " [", in_memory, "]"));
    }

    Journal* journal = nullptr;
    size_t number = 0;
    const std::vector<Layer*>* all = nullptr;
    bool throws = false;  // in the backward pass
};

// Layers, called one after the other in the order `order`; the result of `dropped` is not
// used.
class Chain : public nn::Module {
  public:
    explicit Chain(const std::vector<std::pair<int64_t, int64_t>>& features) {
        for (const auto& [in, out] : features) {
            Layer& layer = make_module<Layer>(concat("fc", layers.size()), in, out);
            layer.number = layers.size();
            layer.all = &layers;
            order.push_back(layers.size());
            layers.push_back(&layer);
        }
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (const size_t i : order) {
            const Tensor result = (*layers[i])(y);
            if (i != dropped) y = result;
        }
        return y;
    }
    void note_in(Journal& journal) {
        for (Layer* const layer : layers) layer->journal = &journal;
    }

    std::vector<Layer*> layers;
    std::vector<size_t> order;
    size_t dropped = 99;
};

// Layers of 20, 42, 16 and 6 parameters.
class Net : public Chain {
  public:
    Net() : Chain({{3, 5}, {5, 7}, {7, 2}, {2, 2}}) {}
};

// Three layers that can be called in any order.
class Square : public Chain {
  public:
    Square() : Chain({{3, 3}, {3, 3}, {3, 3}}) {}
};

inline const Names kUnits{"fc0", "fc1", "fc2", "fc3"};
inline const std::vector<int64_t> kNumel{20, 42, 16, 6};

inline std::unique_ptr<nn::Module> make_net() { return std::make_unique<Net>(); }
inline std::unique_ptr<nn::Module> make_gpt() {
    return std::make_unique<nn::GPT>(nn::GPTConfig{
        .vocab_size = 11, .block_size = 5, .n_layer = 2, .n_head = 2, .n_embd = 6});
}

inline Tensor net_batch(int rank, int step) {
    return draw({4, 3}, static_cast<uint64_t>(10 * step + rank));
}
inline Tensor gpt_batch(int rank, int step) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < 10; ++i) tokens.push_back((7 * i * i + 3 * rank + step) % 11);
    return Tensor::from(tokens, {2, 5});
}

// A model, its units, and its batches.
struct Job {
    std::string name;
    std::unique_ptr<nn::Module> (*make)();
    Tensor (*batch)(int rank, int step);
    Names units;
};
inline const std::vector<Job> kJobs{
    {"four layers, each a unit", make_net, net_batch, kUnits},
    {"four layers, one unit", make_net, net_batch, {}},
    {"a transformer",
     make_gpt,
     gpt_batch,
     {"wte", "wpe", "h.0", "h.1", "ln_f", "lm_head"}},
    {"a transformer with units in units", make_gpt, gpt_batch, {"h", "h.0.attn", "h.1"}}};

inline Tensor loss_of(const Tensor& y) { return mean(y * y); }

// ---- the shards that a rank should have

// Returns the name of the unit that a parameter belongs to: the innermost one.
inline std::string owner_of(const std::string& parameter, const Names& units) {
    std::string owner;
    for (const std::string& unit : units)
        if (parameter.starts_with(unit + ".") && unit.size() > owner.size()) owner = unit;
    return owner;
}

// Returns the tensors of each unit one after the other, the units in the order of `order`.
inline std::vector<Values> by_unit(const nn::NamedTensors& tensors, const Names& order,
                                   const Names& units) {
    std::vector<Values> all(order.size());
    for (const auto& [name, tensor] : tensors) {
        const auto at = std::ranges::find(order, owner_of(name, units)) - order.begin();
        std::ranges::copy(tensor.to_vector<float>(),
                          std::back_inserter(all.at(static_cast<size_t>(at))));
    }
    return all;
}

// Returns part `rank` of `ranks` of flat values, with zeros at the end.
inline Values part_of(const Values& flat, int rank, int ranks) {
    const auto size =
        (flat.size() + static_cast<size_t>(ranks) - 1) / static_cast<size_t>(ranks);
    Values part(size, 0.0f);
    const size_t begin = static_cast<size_t>(rank) * size;
    for (size_t i = 0; i < size && begin + i < flat.size(); ++i)
        part[i] = flat[begin + i];
    return part;
}

// Returns this rank's parts of the tensors of each unit.
inline std::vector<Values> own_parts(const nn::NamedTensors& tensors, const Names& order,
                                     const Names& units, dist::ProcessGroup& group) {
    std::vector<Values> parts;
    for (const Values& flat : by_unit(tensors, order, units))
        parts.push_back(part_of(flat, group.rank(), group.world_size()));
    return parts;
}

inline std::vector<Values> values_by_unit(const FullyShardedDataParallel& fsdp) {
    std::vector<Values> all;
    for (const Tensor& shard : fsdp.shards()) all.push_back(shard.to_vector<float>());
    return all;
}

// Returns the gradients of the shards; an empty list for a shard without one.
inline std::vector<Values> gradients_by_unit(const FullyShardedDataParallel& fsdp) {
    std::vector<Values> all;
    for (const Tensor& shard : fsdp.shards())
        all.push_back(shard.grad().defined() ? shard.grad().to_vector<float>()
                                             : Values());
    return all;
}

inline nn::NamedTensors gradients_of(const nn::Module& module) {
    nn::NamedTensors all;
    for (const auto& [name, parameter] : module.named_parameters())
        all.emplace_back(name, parameter.grad());
    return all;
}

// Returns "element 2 of unit h.0 is 0.5, and should be 0.25"; "none" if all are equal.
inline std::string first_difference(const std::vector<Values>& found,
                                    const std::vector<Values>& expected,
                                    const Names& order) {
    if (found.size() != expected.size())
        return concat("there are ", found.size(), " shards, and should be ",
                      expected.size());
    for (size_t unit = 0; unit < found.size(); ++unit) {
        const std::string name =
            order[unit].empty() ? "of the module itself" : "of unit " + order[unit];
        if (found[unit].size() != expected[unit].size())
            return concat("the shard ", name, " has ", found[unit].size(),
                          " elements, and should have ", expected[unit].size());
        const auto [at, right] = std::ranges::mismatch(found[unit], expected[unit]);
        if (at != found[unit].end())
            return concat("element ", at - found[unit].begin(), " of this rank's shard ",
                          name, " is ", optim::exact_text(*at), ", and should be ",
                          optim::exact_text(*right));
    }
    return "none";
}

inline int count_freed(const nn::Module& module) {
    int freed = 0;
    for (const Tensor& parameter : module.parameters()) freed += parameter.is_freed();
    return freed;
}

// Returns how many lines of a journal begin with `beginning`.
inline int64_t count_of(const Journal& journal, const std::string& beginning) {
    return std::ranges::count_if(
        journal, [&](const std::string& line) { return line.starts_with(beginning); });
}

// Returns the position of the first line that begins with `beginning`; -1 without one.
inline int64_t place_of(const Journal& journal, const std::string& beginning) {
    const auto found = std::ranges::find_if(
        journal, [&](const std::string& line) { return line.starts_with(beginning); });
    return found == journal.end() ? -1 : found - journal.begin();
}

// Returns the events of units since the last call with this position, and those of the
// forward pass: "gather 1 240", "gathered 1 240", "free 1 240", "reduce 1 240",
// "reduced 1 240", with the unit and its bytes; "begin", "end"; with `sent` also "sent",
// the end of a collective.
inline Journal events_since(EventLog& log, uint64_t& position, bool sent = false) {
    Journal events;
    for (const Event& event : log.since(position)) {
        const std::string unit = concat(" ", event.index, " ", event.bytes);
        switch (event.kind) {
            case EventKind::kForwardBegin: events.push_back("begin"); break;
            case EventKind::kForwardEnd: events.push_back("end"); break;
            case EventKind::kGatherLaunch: events.push_back("gather" + unit); break;
            case EventKind::kGatherDone: events.push_back("gathered" + unit); break;
            case EventKind::kUnitFree: events.push_back("free" + unit); break;
            case EventKind::kReduceLaunch: events.push_back("reduce" + unit); break;
            case EventKind::kReduceDone: events.push_back("reduced" + unit); break;
            default:
                if (sent && event.kind == EventKind::kCollectiveEnd)
                    events.push_back("sent");
        }
    }
    return events;
}

// Returns the lines of the layers alone.
inline Journal layers_of(const Journal& journal) {
    Journal lines;
    for (const std::string& line : journal)
        if (line.starts_with("forward") || line.starts_with("backward"))
            lines.push_back(line);
    return lines;
}

}  // namespace mini::lab21
