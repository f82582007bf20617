// FullyShardedDataParallel: what the check of lab 21 does not test. This is other devices,
// the event log of whole passes, buffers in a state, and the errors.

#include "libmini/parallel/fsdp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/nn/norm.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Names = std::vector<std::string>;
using Values = std::vector<float>;

// A linear layer that records in the log when it computes.
class Layer : public nn::Linear {
  public:
    using Linear::Linear;
    Tensor forward(const Tensor& x) override {
        const EventSpan span(log, "compute", number);
        return gelu(Linear::forward(x));
    }

    EventLog* log = nullptr;
    int64_t number = 0;
};

// Four layers, called one after the other.
class Net : public nn::Module {
  public:
    Net() {
        for (size_t i = 0; i < layers.size(); ++i) {
            layers[i]->number = static_cast<int64_t>(i);
            register_module(concat("fc", i), *layers[i]);
        }
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (Layer* const layer : layers) y = (*layer)(y);
        return y;
    }
    void watch(EventLog& log) {
        for (Layer* const layer : layers) layer->log = &log;
    }

    Layer fc0{3, 5}, fc1{5, 7}, fc2{7, 2}, fc3{2, 2};
    std::vector<Layer*> layers{&fc0, &fc1, &fc2, &fc3};
};

const Names kUnits{"fc0", "fc1", "fc2", "fc3"};

std::unique_ptr<nn::Module> make_gpt() {
    return std::make_unique<nn::GPT>(nn::GPTConfig{
        .vocab_size = 11, .block_size = 5, .n_layer = 2, .n_head = 2, .n_embd = 6});
}

Tensor net_batch(int rank, int step) {
    return draw({4, 3}, static_cast<uint64_t>(10 * step + rank));
}
Tensor gpt_batch(int rank, int step) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < 10; ++i) tokens.push_back((7 * i * i + 3 * rank + step) % 11);
    return Tensor::from(tokens, {2, 5});
}

Tensor loss_of(const Tensor& y) { return mean(y * y); }

// Returns the events since `position` as text: "gather 1, has 1, compute 1, end 1".
std::string events_since(EventLog& log, uint64_t& position) {
    std::string words;
    for (const Event& event : log.since(position)) {
        const char* const word = [&] {
            switch (event.kind) {
                case EventKind::kGatherLaunch: return "gather";
                case EventKind::kGatherDone: return "has";
                case EventKind::kSpanBegin: return "compute";
                case EventKind::kSpanEnd: return "end";
                case EventKind::kUnitFree: return "free";
                case EventKind::kReduceLaunch: return "reduce";
                case EventKind::kReduceDone: return "reduced";
                default: return "";
            }
        }();
        if (*word != '\0')
            words += concat(words.empty() ? "" : ", ", word, " ", event.index);
    }
    return words;
}

}  // namespace

TEST_CASE("a transformer has bitwise DDP's parameters on two ranks, on any device") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup& group) {
        const auto replica = make_gpt(), whole = make_gpt();
        whole->load_state_dict(replica->state_dict());
        DistributedDataParallel ddp(*replica);
        FullyShardedDataParallel fsdp(*whole, {"h.0", "h.1"});
        optim::Adam one(replica->parameters(), {.lr = 0.01}),
            all(fsdp.shards(), {.lr = 0.01});
        for (int step = 0; step < 3; ++step) {
            const Tensor batch = gpt_batch(group.rank(), step);
            one.zero_grad();
            loss_of(ddp(batch)).backward();
            one.step();
            all.zero_grad();
            loss_of(fsdp(batch)).backward();
            all.step();
        }
        Values found;
        for (const auto& [name, tensor] : fsdp.full_state_dict(group.rank()))
            std::ranges::copy(tensor.to_vector<float>(), std::back_inserter(found));
        return std::pair(found, flat_parameters(*replica));
    });
    for (const auto& [found, expected] : by_rank) CHECK(found == expected);
}

// Unit 0 has the layers 1 and 3; unit 1 is layer 0, and unit 2 layer 2.
TEST_CASE("the module's own unit is gathered as long as the module computes") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, {"fc0", "fc2"});
        net.watch(group.events());
        Names passes;
        uint64_t position = 0;
        for (int step = 0; step < 2; ++step) {
            group.events().since(position);
            const Tensor loss = loss_of(fsdp(net_batch(group.rank(), step)));
            passes = {events_since(group.events(), position)};
            loss.backward();
            passes.push_back(events_since(group.events(), position));
        }
        const NoGradGuard no_grad;
        fsdp(net_batch(group.rank(), 0));
        passes.push_back(events_since(group.events(), position));
        return passes;
    });
    const std::string forward =
        "gather 0, has 0, gather 1, has 1, gather 2, compute 0, end 0, free 1, "
        "compute 1, end 1, has 2, compute 2, end 2, free 2, compute 3, end 3, free 0";
    CHECK(by_rank[0][0] == forward);
    CHECK(by_rank[0][1] ==
          "gather 0, has 0, gather 2, has 2, gather 1, free 2, reduce 2, free 0, "
          "reduced 2, reduce 0, has 1, free 1, reduced 0, reduce 1, reduced 1");
    CHECK(by_rank[0][2] == forward);  // an evaluation, without gradients
}

TEST_CASE("after an error because of a step between the passes training goes on") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits);
        const Tensor batch = net_batch(group.rank(), 0);
        loss_of(fsdp(batch)).backward();
        const Tensor loss = loss_of(fsdp(batch));
        optim::SGD(fsdp.shards(), {.lr = 0.1}).step();
        const std::string error = message_of([&] { loss.backward(); });
        return std::pair(error, loss_of(fsdp(batch)).item());
    });
    for (const auto& [error, after] : by_rank) {
        CHECK(error.find("was changed in place since") != std::string::npos);
        CHECK(after > 0);
    }
}

TEST_CASE("buffers are in both states, rank 0's at first, and loading sends nothing") {
    class Normed : public nn::Module {
      public:
        Normed() { register_module("norm", norm); }
        Tensor forward(const Tensor& x) override { return norm(x); }
        nn::BatchNorm1d norm{3};
    };
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup& group) {
        Normed model, other, third;
        for (Tensor buffer : model.buffers())
            if (buffer.dtype() == DType::kFloat32)
                ops::fill_(buffer, static_cast<float>(4 + group.rank()));
        FullyShardedDataParallel fsdp(model, {}), full(other, {}), sharded(third, {});
        const nn::NamedTensors state = fsdp.full_state_dict(group.rank());
        uint64_t position = 0;
        group.events().since(position);
        full.load_full_state_dict(state);
        sharded.load_sharded_state_dict(std::vector(2, fsdp.sharded_state_dict()));
        const auto events = group.events().since(position);
        const std::vector<Values> values{model.buffers()[0].to_vector<float>(),
                                         other.buffers()[0].to_vector<float>(),
                                         third.buffers()[0].to_vector<float>()};
        return std::pair(values, std::ranges::count(events, EventKind::kCollectiveBegin,
                                                    &Event::kind));
    });
    for (const auto& [values, collectives] : by_rank) {
        for (const Values& each : values) CHECK(each == Values{4, 4, 4});
        CHECK(collectives == 0);
    }
}

TEST_CASE(
    "what cannot be sharded is rejected, with the rank, the unit and the next step") {
    class Tied : public nn::Module {
      public:
        Tied() {
            register_module("a", a);
            register_module("b", b);
            b.weight = a.weight;
        }
        Tensor forward(const Tensor& x) override { return b(a(x)); }
        nn::Linear a{3, 3}, b{3, 3};
    };
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup&) {
        Net net, frozen, wrapped;
        Tied tied;
        frozen.fc1.weight.set_requires_grad(false);
        const auto gpt = make_gpt();
        DistributedDataParallel ddp(wrapped);
        const auto error = [](nn::Module& module, const Names& units) {
            return message_of<UsageError>(
                [&] { FullyShardedDataParallel(module, units); });
        };
        return Names{error(net, {"fc9"}), error(tied, {"a", "b"}), error(frozen, kUnits),
                     error(wrapped, kUnits), error(*gpt, {"h", "h.0", "h.1"})};
    });
    const std::string who = "FullyShardedDataParallel: on rank 1 ";
    CHECK(by_rank[1][0] ==
          who + "unit \"fc9\" is not a submodule; named_modules() has the names");
    CHECK(by_rank[1][1] == who +
                               "parameter b.weight is in unit a and in unit b; name one "
                               "unit that contains both");
    CHECK(by_rank[1][2] ==
          who + "parameter fc1.weight is frozen; thaw it, or leave it out");
    CHECK(by_rank[1][3] ==
          who + "parameter fc0.weight is averaged by another wrapper; wrap once");
    CHECK(by_rank[1][4] == who + "unit h has no parameters of its own; leave it out");
}

TEST_CASE("a parameter without a gradient, or read outside of its unit, is an error") {
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup&) {
        Branches module;
        module.on = {true, false, false};
        FullyShardedDataParallel fsdp(module, {});
        Names errors;
        const Tensor loss = fsdp(Tensor::ones({1}));
        errors.push_back(message_of([&] { module.weights[0].item(); }));
        errors.push_back(message_of([&] { loss.backward(); }));
        module.on = {true, true, true};
        fsdp(Tensor::ones({1})).backward();  // it works again
        errors.push_back(concat(fsdp.shards()[0].grad().to_vector<float>()[0]));
        errors.push_back(message_of<UsageError>([&] {
            fsdp.load_sharded_state_dict({{}, {}});
        }));
        errors.push_back(message_of([&] { fsdp.load_full_state_dict({}); }));
        return errors;
    });
    CHECK(by_rank[1][0] ==
          "tensor: the memory of this tensor of shape (1,) is freed; a sharded parameter "
          "has values only while its unit computes");
    CHECK(
        by_rank[1][1].find("on rank 1 these parameters of unit (the module itself) took "
                           "no part in the loss") != std::string::npos);
    CHECK(by_rank[1][1].ends_with("or use them: b c"));
    CHECK(by_rank[1][2] == "1");
    CHECK(
        by_rank[1][3] ==
        "FullyShardedDataParallel: on rank 1 the state of rank 0 of 2 has 0 elements of "
        "unit (the module itself), not 2; pass the states of all its ranks, in order");
    CHECK(by_rank[1][4].find("missing: a (1,)") != std::string::npos);
}

TEST_CASE("ranks with different modules get the same error on every rank") {
    const auto messages = on_ranks(3, [&](dist::ProcessGroup& group) {
        nn::Linear linear(group.rank() == 2 ? 4 : 3, 2);
        return message_of([&] { FullyShardedDataParallel(linear, {}); });
    });
    for (const std::string& message : messages)
        CHECK(message ==
              "FullyShardedDataParallel: parameter 0 (here weight) is (2, 3) on rank 0, "
              "but (2, 4) on rank 2; every rank must build the same module");
}

TEST_CASE(
    "a module can be wrapped after its wrapper is gone, and graphs may outlive it") {
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup& group) {
        Net net;
        Tensor loss;
        nn::NamedTensors state;
        {
            FullyShardedDataParallel fsdp(net, kUnits);
            loss = loss_of(fsdp(net_batch(group.rank(), 0)));
            state = fsdp.full_state_dict(group.rank());
        }
        const std::string error = message_of([&] { loss.backward(); });
        return error;
    });
    CHECK(by_rank[0].find("is freed") != std::string::npos);
}
