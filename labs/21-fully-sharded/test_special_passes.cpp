// The checks of lab 21, task 21.4: passes that are not one forward and one backward pass
// through all units: several passes, an evaluation, and errors.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/nn/norm.hpp"

using namespace mini;
using namespace mini::lab21;

namespace {

// Returns this rank's parts of the gradients' averages, by unit. Every rank must call it.
std::vector<Values> own_averages(const nn::Module& module, dist::ProcessGroup& group,
                                 const Names& units = kUnits) {
    nn::NamedTensors gradients = gradients_of(module);
    for (auto& [name, gradient] : gradients)
        group.all_reduce(gradient, dist::ReduceOp::kAvg);
    return own_parts(gradients, units, units, group);
}

}  // namespace

TEST_CASE("gradients of several passes add up, also of two forward passes",
          "[lab21][lab21.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        Net plain, net;
        net.load_state_dict(plain.state_dict());
        const Tensor a = net_batch(group.rank(), 0), b = net_batch(group.rank(), 1);
        const auto expected = [&](const std::function<Tensor(nn::Module&)>& loss) {
            plain.zero_grad();
            loss(plain).backward();
            return own_averages(plain, group);
        };
        const auto sum_of = [&](nn::Module& model) {
            return loss_of(model(a)) + loss_of(model(b));
        };
        const auto one_of = [&](nn::Module& model) { return loss_of(model(a)); };
        auto sum = expected(sum_of);
        const auto one = expected(one_of);
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = false});
        sum_of(fsdp).backward();
        const std::string once = first_difference(gradients_by_unit(fsdp), sum, kUnits);
        one_of(fsdp).backward();
        for (size_t unit = 0; unit < sum.size(); ++unit)
            for (size_t i = 0; i < sum[unit].size(); ++i) sum[unit][i] += one[unit][i];
        return std::tuple(once, first_difference(gradients_by_unit(fsdp), sum, kUnits),
                          count_freed(net));
    });
    for (const auto& [once, more, freed] : seen) {
        {
            INFO("two forward passes, then one backward pass through both");
            CHECK(once == "none");
        }
        INFO("then one more pass of each kind, without zero_grad()");
        CHECK(more == "none");
        CHECK(freed == 8);
    }
}

TEST_CASE("a unit that is used twice is reduced once, and one that is not called never",
          "[lab21][lab21.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        Net plain, net;
        net.load_state_dict(plain.state_dict());
        const auto watched = std::make_shared<WatchedGroup>(group);
        FullyShardedDataParallel fsdp(net, kUnits,
                                      {.process_group = watched, .prefetch = false});
        const Tensor batch = net_batch(group.rank(), 0);
        plain.order = net.order = {0, 1, 2, 3, 3};
        loss_of(plain(batch)).backward();
        const std::vector<Values> averages = own_averages(plain, group);
        watched->journal.clear();
        loss_of(fsdp(batch)).backward();
        const std::string twice =
            first_difference(gradients_by_unit(fsdp), averages, kUnits);
        const int64_t reductions = count_of(watched->journal, "start reduce_scatter");
        for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
        const auto have_gradients = [&] {
            std::string all;
            for (const Tensor& shard : fsdp.shards()) {
                all += shard.grad().defined() ? "1" : "0";
                Tensor(shard).set_grad({});
            }
            return all;
        };
        net.order = {0, 1};
        loss_of(fsdp(batch)).backward();
        const std::string two = have_gradients();
        net.order = {0, 1, 2, 3};
        net.dropped = 3;
        loss_of(fsdp(batch)).backward();
        return std::tuple(twice, reductions, two, have_gradients());
    });
    for (const auto& [twice, reductions, two, dropped] : seen) {
        INFO("the last of four layers is called twice: its gradients are one sum");
        CHECK(twice == "none");
        CHECK(reductions == 4);
        INFO("a unit that is not called has no gradient, and its reduction is left out");
        CHECK(two == "1100");
        INFO("so has one that is called, if the loss does not need its result");
        CHECK(dropped == "1110");
    }
}

TEST_CASE("an evaluation gathers and frees, and buffers are rank 0's",
          "[lab21][lab21.4]") {
    class Normed : public nn::Module {
      public:
        Normed() { register_module("norm", norm); }
        Tensor forward(const Tensor& x) override { return norm(x); }
        nn::BatchNorm1d norm{3};
    };
    const int ranks = GENERATE(1, 2, 3, 4);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net plain, net;
        net.load_state_dict(plain.state_dict());
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = false});
        Normed model;
        for (Tensor buffer : model.buffers())
            if (buffer.dtype() == DType::kFloat32)
                ops::fill_(buffer, static_cast<float>(4 + group.rank()));
        FullyShardedDataParallel normed(model, {}, {.prefetch = false});
        Tensor buffer = model.buffers()[0];
        const Values sent = buffer.to_vector<float>();
        const NoGradGuard no_grad;
        const Tensor batch = net_batch(group.rank(), 0);
        const bool is_same =
            fsdp(batch).to_vector<float>() == plain(batch).to_vector<float>();
        normed.eval();
        ops::fill_(buffer, static_cast<float>(group.rank()));
        normed(batch);
        return std::tuple(is_same, count_freed(net), sent, buffer.to_vector<float>());
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [is_same, freed, sent, later] = seen[rank];
        INFO("under NoGradGuard, on " << ranks << " ranks; this is rank " << rank);
        CHECK(is_same);
        CHECK(freed == 8);
        INFO("a buffer is 4 + rank before the constructor, which sends rank 0's");
        CHECK(sent == Values(3, 4.0f));
        INFO("then it is the rank's own: forward() sends no buffers");
        CHECK(later == Values(3, static_cast<float>(rank)));
    }
}

TEST_CASE("a parameter of a used unit without a gradient is an error that names it",
          "[lab21][lab21.4]") {
    class Branches : public nn::Module {
      public:
        Branches() {
            register_parameter("left", left);
            register_parameter("right", right);
        }
        Tensor forward(const Tensor& x) override {
            return both ? sum(x * left + x * right) : sum(x * left);
        }
        Tensor left = Tensor::ones({2}), right = Tensor::ones({2});
        bool both = false;
    };
    class Model : public nn::Module {
      public:
        Tensor forward(const Tensor& x) override {
            return last(view(first(x) * x, {1, 2}));
        }
        Branches& first = make_module<Branches>("first");
        nn::Linear& last = make_module<nn::Linear>("last", 2, 1);
    };
    const Names units = GENERATE(Names{"first", "last"}, Names{"last", "first"});
    const auto seen = on_ranks(2, [&](dist::ProcessGroup&) {
        Model model;
        for (Tensor parameter : model.last.parameters()) {
            Tensor values = parameter.detach();
            ops::fill_(values, 0.5f);
        }
        FullyShardedDataParallel fsdp(model, units, {.prefetch = false});
        const Tensor loss = fsdp(Tensor::ones({2}));
        const std::string error = error_of([&] { loss.backward(); });
        model.first.both = true;
        for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
        fsdp(Tensor::ones({2})).backward();
        const size_t index = units[0] == "first" ? 0 : 1;
        return std::pair(error, fsdp.shards()[index].grad().to_vector<float>());
    });
    for (const auto& [error, gradient] : seen) {
        INFO("`right` took no part in the loss: " << error);
        CHECK_THAT(error, ContainsSubstring("right"));
        CHECK(error.find("left") == std::string::npos);
        INFO("the next pass is not disturbed by the one that failed");
        CHECK(gradient == Values{1, 1});
    }
}

TEST_CASE("a gradient that does not come from the unit's result is an error",
          "[lab21][lab21.4]") {
    // A layer whose weight takes part in the loss past the layer's result.
    class Leaky : public Layer {
      public:
        using Layer::Layer;
        Tensor forward(const Tensor& x) override {
            leaked = sum(weight);
            return Layer::forward(x);
        }
        Tensor leaked;
    };
    class Model : public nn::Module {
      public:
        Tensor forward(const Tensor& x) override {
            const Tensor y = sum(layer(x));
            return leaks ? layer.leaked + 0.0f : y;
        }
        Leaky& layer = make_module<Leaky>("leaky", 3, 2);
        bool leaks = true;
    };
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        Model plain, model;
        model.load_state_dict(plain.state_dict());
        for (Tensor each : model.parameters()) each.set_grad(Tensor::ones(each.shape()));
        FullyShardedDataParallel fsdp(model, {"leaky"}, {.prefetch = false});
        const bool has_gradient = model.layer.weight.grad().defined();
        const Tensor batch = net_batch(group.rank(), 0);
        const Tensor loss = fsdp(batch);
        const std::string error = error_of([&] { loss.backward(); });
        model.leaks = plain.leaks = false;
        fsdp(batch).backward();
        plain(batch).backward();
        return std::tuple(
            error, has_gradient,
            first_difference(gradients_by_unit(fsdp),
                             own_averages(plain, group, {"leaky"}), {"leaky"}));
    });
    for (const auto& [error, has_gradient, difference] : seen) {
        INFO("the loss is the sum of a weight, without the layer's result: " << error);
        CHECK_THAT(error, ContainsSubstring("weight"));
        CHECK_THAT(error, ContainsSubstring("leaky"));
        INFO("a parameter's gradient of before the constructor is no shard's");
        CHECK_FALSE(has_gradient);
        INFO("nor is one of the pass that threw: the next pass has its own gradients");
        CHECK(difference == "none");
    }
}

TEST_CASE(
    "after a backward pass that throws midway the next step is as if there were none",
    "[lab21][lab21.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        Net plain, net;
        net.load_state_dict(plain.state_dict());
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = false});
        const Tensor batch = net_batch(group.rank(), 0);
        net.layers[1]->throws = true;
        const Tensor failing = loss_of(fsdp(batch));
        const std::string error = error_of([&] { failing.backward(); });
        net.layers[1]->throws = false;
        // The next step: other values, and no gradients.
        for (Tensor shard : fsdp.shards()) {
            shard.set_grad({});
            Tensor values = shard.detach();
            ops::mul_(values, 2.0f);
        }
        for (const Tensor& parameter : plain.parameters()) {
            Tensor values = parameter.detach();
            ops::mul_(values, 2.0f);
        }
        Journal journal;
        net.note_in(journal);
        loss_of(fsdp(batch)).backward();
        loss_of(plain(batch)).backward();
        const std::vector<Values> averages = own_averages(plain, group);
        return std::tuple(error, journal,
                          first_difference(gradients_by_unit(fsdp), averages, kUnits),
                          count_freed(net));
    });
    for (const auto& [error, journal, difference, freed] : seen) {
        INFO("the backward pass of layer 1 of four throws: unit 1 is in memory then,");
        INFO("and a reduction in flight; then zero_grad(), new values, a step that ends");
        CHECK(error == "the layer's backward pass failed");
        INFO("in brackets: layers in memory");
        CHECK(journal == Journal{"forward 0 [0]", "forward 1 [1]", "forward 2 [2]",
                                 "forward 3 [3]", "backward 3 [3]", "backward 2 [2]",
                                 "backward 1 [1]", "backward 0 [0]"});
        INFO("gradients of the new values, and of the second pass only");
        CHECK(difference == "none");
        CHECK(freed == 8);
    }
}

TEST_CASE("a loss may outlive the wrapper, whose backward pass is then an error",
          "[lab21][lab21.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Net net;
        Tensor loss;
        {
            FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = false});
            loss = loss_of(fsdp(net_batch(group.rank(), 0)));
        }
        return error_of([&] { loss.backward(); });
    });
    INFO("the parameters are freed, and the wrapper that gathers them is destroyed");
    for (const std::string& error : seen) {
        INFO(error);
        CHECK_THAT(error, ContainsSubstring("freed"));
    }
}

TEST_CASE("the module is a submodule, and the log has its forward pass",
          "[lab21][lab21.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, {}, {.prefetch = false});
        fsdp.eval();
        const bool is_training = net.is_training() || net.layers[3]->is_training();
        std::string name;
        for (const auto& [each, module] : fsdp.named_modules())
            if (module == &net) name = each;
        uint64_t position = 0;
        events_since(group.events(), position);
        const Tensor loss = loss_of(fsdp(net_batch(group.rank(), 0)));
        const std::string forward = in_words(events_since(group.events(), position));
        loss.backward();
        return std::tuple(is_training, name, forward,
                          in_words(events_since(group.events(), position)));
    });
    for (const auto& [is_training, name, forward, backward] : seen) {
        INFO("eval() reaches the module and its layers");
        CHECK_FALSE(is_training);
        CHECK(name == "module");
        INFO("one unit of 84 parameters");
        CHECK(forward == "begin, gather 0 336, gathered 0 336, free 0 336, end");
        INFO("in backward it is freed before the reduction begins");
        CHECK(backward ==
              "gather 0 336, gathered 0 336, free 0 336, reduce 0 336, "
              "reduced 0 336");
    }
}
