// FullyShardedDataParallel: the results are those of DDP; what is gathered when, how many
// bytes that sends, and how much is in memory; and the states on another number of ranks.

#include "libmini/parallel/fsdp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/distributed/group/gather.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;
using optim::OptimizerState;

namespace {

using Names = std::vector<std::string>;
using Values = std::vector<float>;

// A linear layer that records in the log when it computes, and how many bytes of `watched`
// are not freed then.
class Layer : public nn::Linear {
  public:
    using Linear::Linear;
    Tensor forward(const Tensor& x) override {
        const EventSpan span(log, "compute", number);
        int64_t bytes = 0;
        for (const Tensor& each : watched)
            if (!each.is_freed()) bytes += static_cast<int64_t>(each.bytes());
        in_memory = std::max(in_memory, bytes);
        return gelu(Linear::forward(x));
    }

    EventLog* log = nullptr;
    int64_t number = 0;
    std::vector<Tensor> watched;
    int64_t in_memory = 0;
};

// Layers of 20, 42, 16 and 6 parameters; `order` is the order of the calls.
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
        for (const size_t i : order) y = (*layers[i])(y);
        return y;
    }
    void watch(EventLog& log) {
        for (Layer* const layer : layers) {
            layer->log = &log;
            layer->watched = parameters();
        }
    }

    Layer fc0{3, 5}, fc1{5, 7}, fc2{7, 2}, fc3{2, 2};
    std::vector<Layer*> layers{&fc0, &fc1, &fc2, &fc3};
    std::vector<size_t> order{0, 1, 2, 3};
};

const Names kUnits{"fc0", "fc1", "fc2", "fc3"};
const std::vector<int64_t> kNumel{20, 42, 16, 6};

std::unique_ptr<nn::Module> make_net() { return std::make_unique<Net>(); }
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

// A model, its units, and its batches.
struct Job {
    std::string name;
    std::unique_ptr<nn::Module> (*make)();
    Tensor (*batch)(int rank, int step);
    Names units;
};
const std::vector<Job> kJobs{
    {"four layers", make_net, net_batch, kUnits},
    {"no unit but the module", make_net, net_batch, {}},
    {"a transformer",
     make_gpt,
     gpt_batch,
     {"wte", "wpe", "h.0", "h.1", "ln_f", "lm_head"}},
    {"blocks in the module", make_gpt, gpt_batch, {"h.0", "h.1"}},
    {"units in units", make_gpt, gpt_batch, {"h", "h.0.attn", "h.1"}}};

Tensor loss_of(const Tensor& y) { return mean(y * y); }

using Make = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;
const std::vector<std::pair<std::string, Make>> kOptimizers{
    {"SGD",
     [](std::vector<Tensor> parameters) {
         return std::make_unique<optim::SGD>(
             std::move(parameters),
             optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
     }},
    {"Adam", [](std::vector<Tensor> parameters) {
         return std::make_unique<optim::Adam>(std::move(parameters),
                                              optim::AdamOptions{.lr = 0.01});
     }}};

Values flat_values(const nn::NamedTensors& state) {
    Values all;
    for (const auto& [name, tensor] : state)
        std::ranges::copy(tensor.to_vector<float>(), std::back_inserter(all));
    return all;
}

// Trains `steps` steps; returns the parameters on rank 0.
Values train(const Job& job, bool is_sharded, const Make& make, int ranks, int steps,
             bool prefetch = true) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        const auto model = job.make();
        std::unique_ptr<nn::Module> wrapper;
        FullyShardedDataParallel* fsdp = nullptr;
        if (is_sharded) {
            auto made = std::make_unique<FullyShardedDataParallel>(
                *model, job.units, FSDPOptions{.prefetch = prefetch});
            fsdp = made.get();
            wrapper = std::move(made);
        } else {
            wrapper = std::make_unique<DistributedDataParallel>(*model);
        }
        const auto optimizer = make(fsdp ? fsdp->shards() : model->parameters());
        for (int step = 0; step < steps; ++step) {
            optimizer->zero_grad();
            loss_of((*wrapper)(job.batch(group.rank(), step))).backward();
            optimizer->step();
        }
        return flat_values(fsdp ? fsdp->full_state_dict() : model->state_dict());
    })[0];
}

}  // namespace

TEST_CASE("a shard is one part, and can be cut out of the shards of other ranks") {
    CHECK(shard_numel(20, 1) == 20);
    CHECK(shard_numel(20, 3) == 7);
    CHECK(shard_numel(20, 4) == 5);
    CHECK(shard_numel(2, 4) == 1);
    CHECK(shard_numel(0, 4) == 0);
    const int64_t numel = GENERATE(1, 2, 5, 20, 42);
    const auto parts = [&](int ranks) {
        std::vector<Tensor> shards;
        const int64_t size = shard_numel(numel, ranks);
        for (int64_t begin = 0; begin < ranks * size; begin += size) {
            Values values;
            for (int64_t i = begin; i < begin + size; ++i)
                values.push_back(i < numel ? static_cast<float>(i + 1) : 0.0f);
            shards.push_back(Tensor::from(values));
        }
        return shards;
    };
    for (const int from : {1, 2, 3, 4, 7})
        for (const int to : {1, 2, 3, 4, 7})
            for (int rank = 0; rank < to; ++rank) {
                CAPTURE(numel, from, to, rank);
                CHECK(reshard(parts(from), numel, rank, to).to_vector<float>() ==
                      parts(to)[static_cast<size_t>(rank)].to_vector<float>());
            }
}

TEST_CASE("the parameters are bitwise DDP's where a sum has at most two terms") {
    const int ranks = GENERATE(1, 2);
    const auto& job = GENERATE(from_range(kJobs));
    const auto& [name, make] = GENERATE(from_range(kOptimizers));
    CAPTURE(ranks, job.name, name);
    const Values expected = train(job, false, make, ranks, 3);
    CHECK(train(job, true, make, ranks, 3) == expected);
    CHECK(train(job, true, make, ranks, 3, /*prefetch=*/false) == expected);
}

// Both sums add the same P terms t_r, in other orders. Each of the P - 1 additions has a
// relative error of at most u = 2^-24, so each sum has an error of at most
// (P - 1) u (|t_0| + ... + |t_P-1|) to first order, and the two differ by twice that.
TEST_CASE("gradients of more ranks are DDP's within the rounding of a sum") {
    const int ranks = GENERATE(3, 4, 7);
    const auto& job = GENERATE(from_range(kJobs));
    CAPTURE(ranks, job.name);
    const auto by_rank = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const Tensor batch = job.batch(group.rank(), 0);
        manual_seed(3);
        const auto alone = job.make(), replica = job.make(), whole = job.make();
        loss_of((*alone)(batch)).backward();
        const auto terms = dist::all_gather_values(group, flat_gradients(*alone));
        replica->load_state_dict(alone->state_dict());
        whole->load_state_dict(alone->state_dict());

        DistributedDataParallel ddp(*replica);
        loss_of(ddp(batch)).backward();
        const Values expected = flat_gradients(*replica);
        FullyShardedDataParallel fsdp(*whole, job.units);
        loss_of(fsdp(batch)).backward();
        // Let the full state be the gradients.
        const std::vector<Tensor> shards = fsdp.shards();
        for (const Tensor& shard : shards) {
            Tensor values = shard.detach();
            ops::copy_(values, shard.grad());
        }
        const Values found = flat_values(fsdp.full_state_dict(group.rank()));
        double worst = found.size() == expected.size() ? 0.0 : INFINITY;
        for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
            double sum = 0;
            for (const Values& term : terms) sum += std::abs(term[i] / ranks);
            const double apart = std::abs(static_cast<double>(found[i]) - expected[i]);
            const double bound = 2 * (ranks - 1) * 0x1p-24 * sum + 0x1p-149;
            worst = std::max(worst, apart / bound);
        }
        return worst;
    });
    for (const double worst : by_rank) CHECK(worst <= 1.0);
}

// ---- what happens when

namespace {

// Returns the events since `position`: "gather 1", "has 1", "compute 1", "end 1", "free 1",
// "reduce 1", "reduced 1".
Names events_since(EventLog& log, uint64_t& position) {
    Names words;
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
        if (*word != '\0') words.push_back(concat(word, " ", event.index));
    }
    return words;
}

Names words(const std::string& text) {
    Names result;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find(", ", begin), text.size());
        result.push_back(text.substr(begin, end - begin));
        begin = end + 2;
    }
    return result;
}

// A pass of a rank: the events of forward() and of backward().
struct Pass {
    Names forward, backward;
};

// Returns the last of `passes` passes of rank 0 of two, with this order of the layers.
Pass last_pass(int passes, const std::vector<size_t>& order, const Names& units,
               bool prefetch = true) {
    return on_ranks(2, [&](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, units, {.prefetch = prefetch});
        net.watch(group.events());
        net.order = order;
        Pass pass;
        for (int i = 0; i < passes; ++i) {
            uint64_t position = 0;
            events_since(group.events(), position);
            const Tensor loss = loss_of(fsdp(net_batch(group.rank(), i)));
            pass.forward = events_since(group.events(), position);
            loss.backward();
            pass.backward = events_since(group.events(), position);
        }
        return pass;
    })[0];
}

}  // namespace

TEST_CASE("the module's own unit is gathered as long as the module computes") {
    // Unit 0 has the layers 1 and 3; unit 1 is layer 0, and unit 2 layer 2.
    const Pass pass = last_pass(2, {0, 1, 2, 3}, {"fc0", "fc2"});
    CHECK(pass.forward == words("gather 0, has 0, gather 1, has 1, gather 2, compute 0, "
                                "end 0, free 1, compute 1, end 1, has 2, compute 2, "
                                "end 2, free 2, compute 3, end 3, free 0"));
    CHECK(pass.backward ==
          words("gather 0, has 0, gather 2, has 2, gather 1, free 2, reduce 2, "
                "free 0, reduced 2, reduce 0, has 1, free 1, reduced 0, reduce 1, "
                "reduced 1"));
}

TEST_CASE("the next unit is gathered while a unit computes, in both passes") {
    const Pass pass = last_pass(2, {0, 1, 2, 3}, kUnits);
    CHECK(pass.forward == words("gather 0, has 0, gather 1, compute 0, end 0, free 0, "
                                "has 1, gather 2, compute 1, end 1, free 1, "
                                "has 2, gather 3, compute 2, end 2, free 2, "
                                "has 3, compute 3, end 3, free 3"));
    CHECK(pass.backward == words("gather 3, has 3, gather 2, free 3, reduce 3, "
                                 "has 2, gather 1, free 2, reduced 3, reduce 2, "
                                 "has 1, gather 0, free 1, reduced 2, reduce 1, "
                                 "has 0, free 0, reduced 1, reduce 0, reduced 0"));
}

TEST_CASE("without a forward pass to learn from only backward gathers ahead") {
    const Pass first = last_pass(1, {0, 1}, kUnits);
    CHECK(first.forward == words("gather 0, has 0, compute 0, end 0, free 0, "
                                 "gather 1, has 1, compute 1, end 1, free 1"));
    CHECK(first.backward == words("gather 1, has 1, gather 0, free 1, reduce 1, "
                                  "has 0, free 0, reduced 1, reduce 0, reduced 0"));
    const Pass without = last_pass(3, {0, 1}, kUnits, /*prefetch=*/false);
    CHECK(without.forward == first.forward);
    CHECK(without.backward == words("gather 1, has 1, free 1, reduce 1, gather 0, has 0, "
                                    "free 0, reduced 1, reduce 0, reduced 0"));
}

TEST_CASE("a unit that is used twice is gathered for each use, and reduced once") {
    const Pass pass = last_pass(2, {0, 1, 2, 3, 3}, kUnits);
    CHECK(pass.backward == words("gather 3, has 3, gather 2, free 3, reduce 3, "
                                 "has 2, gather 1, free 2, reduced 3, reduce 2, "
                                 "has 1, gather 0, free 1, reduced 2, reduce 1, "
                                 "has 0, free 0, reduced 1, reduce 0, reduced 0"));
}

TEST_CASE("a unit that the last pass called, and this one does not, is freed") {
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits);
        const Tensor batch = net_batch(group.rank(), 0);
        fsdp(batch);
        net.watch(group.events());
        net.order = {0, 1};
        uint64_t position = 0;
        events_since(group.events(), position);
        fsdp(batch);
        const Names left = events_since(group.events(), position);
        net.order = {0, 1, 2};
        fsdp(batch);
        return std::pair(left, events_since(group.events(), position));
    });
    CHECK(by_rank[0].first ==
          words("gather 0, has 0, gather 1, compute 0, end 0, free 0, "
                "has 1, gather 2, compute 1, end 1, free 1, "
                "has 2, free 2"));
    CHECK(by_rank[0].second ==
          words("gather 0, has 0, gather 1, compute 0, end 0, free 0, "
                "has 1, compute 1, end 1, free 1, "
                "gather 2, has 2, compute 2, end 2, free 2"));
}

TEST_CASE("an evaluation gathers and frees, and has no gradients") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const auto by_rank = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net plain, net;
        net.load_state_dict(plain.state_dict());
        FullyShardedDataParallel fsdp(net, kUnits);
        const NoGradGuard no_grad;
        const Tensor batch = net_batch(group.rank(), 0);
        const bool is_same =
            fsdp(batch).to_vector<float>() == plain(batch).to_vector<float>();
        uint64_t position = 0;
        events_since(group.events(), position);
        fsdp(batch);
        const auto freed = std::ranges::count_if(net.parameters(), &Tensor::is_freed);
        return std::tuple(is_same, freed, events_since(group.events(), position).size());
    });
    for (const auto& [is_same, freed, events] : by_rank) {
        CHECK(is_same);
        CHECK(freed == 8);
        CHECK(events == 3 * 4);  // gather, has, free
    }
}

// ---- bytes and memory

TEST_CASE("a rank sends two gathers and a reduce-scatter of (P - 1) / P of each unit") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const bool prefetch = GENERATE(true, false);
    CAPTURE(ranks, prefetch);
    const auto sent = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = prefetch});
        int64_t bytes = 0;
        for (int step = 0; step < 2; ++step) {
            uint64_t position = 0;
            group.events().since(position);
            loss_of(fsdp(net_batch(group.rank(), step))).backward();
            bytes = 0;
            for (const Event& event : group.events().since(position))
                if (event.kind == EventKind::kCollectiveEnd) bytes += event.bytes;
        }
        return bytes;
    });
    int64_t padded = 0;  // the bytes of all shards of a rank
    for (const int64_t numel : kNumel) padded += 4 * shard_numel(numel, ranks);
    for (const int64_t bytes : sent) CHECK(bytes == 3 * (ranks - 1) * padded);
}

TEST_CASE("at most two units are in memory, and nothing between the passes") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const bool prefetch = GENERATE(true, false);
    CAPTURE(ranks, prefetch);
    const auto by_rank = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = prefetch});
        net.watch(group.events());
        int64_t gathered = 0, most = 0, shards = 0, left = 0;
        for (const Tensor& shard : fsdp.shards())
            shards += static_cast<int64_t>(shard.bytes());
        for (int step = 0; step < 2; ++step) {
            uint64_t position = 0;
            group.events().since(position);
            const Tensor loss = loss_of(fsdp(net_batch(group.rank(), step)));
            for (const Tensor& each : net.parameters()) left += !each.is_freed();
            loss.backward();
            for (const Tensor& each : net.parameters()) left += !each.is_freed();
            for (const Event& event : group.events().since(position)) {
                if (event.kind == EventKind::kGatherLaunch) gathered += event.bytes;
                if (event.kind == EventKind::kUnitFree) gathered -= event.bytes;
                most = std::max(most, gathered);
            }
        }
        int64_t seen = 0;  // by the layers themselves
        for (const Layer* const layer : net.layers)
            seen = std::max(seen, layer->in_memory);
        return std::vector<int64_t>{shards, most, seen, left, gathered};
    });
    const auto padded = [&](size_t unit) {
        return 4 * ranks * shard_numel(kNumel[unit], ranks);
    };
    int64_t all = 0;
    for (size_t i = 0; i < kNumel.size(); ++i) all += padded(i);
    for (const auto& numbers : by_rank) {
        CHECK(numbers[0] == all / ranks);
        CHECK(numbers[1] == padded(1) + (prefetch ? padded(0) : 0));  // the largest two
        CHECK(numbers[2] == 4 * (42 + (prefetch ? 20 : 0)));          // without the zeros
        CHECK(numbers[3] == 0);
        CHECK(numbers[4] == 0);
    }
}

// ---- more than one pass

TEST_CASE(
    "gradients of several passes add up, and a step between the passes is an error") {
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net replica, net;
        net.load_state_dict(replica.state_dict());
        DistributedDataParallel ddp(replica);
        FullyShardedDataParallel fsdp(net, kUnits);
        const Tensor a = net_batch(group.rank(), 0), b = net_batch(group.rank(), 1);
        const auto sum_of = [&](nn::Module& model) {
            return loss_of(model(a)) + loss_of(model(b));
        };
        sum_of(fsdp).backward();  // two forward passes, one backward pass
        const Values once = fsdp.shards()[1].grad().to_vector<float>();
        loss_of(fsdp(a)).backward();
        const Values more = fsdp.shards()[1].grad().to_vector<float>();
        for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
        loss_of(fsdp(a)).backward();
        const Values of_a = fsdp.shards()[1].grad().to_vector<float>();
        Values sum;
        for (size_t i = 0; i < once.size(); ++i) sum.push_back(once[i] + of_a[i]);

        const Tensor loss = loss_of(fsdp(a));
        optim::SGD(fsdp.shards(), {.lr = 0.1}).step();
        const std::string error = message_of([&] { loss.backward(); });
        const double after = loss_of(fsdp(a)).item();  // it works again
        return std::tuple(more == sum, error, after > 0);
    });
    for (const auto& [is_sum, error, works] : by_rank) {
        CHECK(is_sum);
        CHECK(error.find("was changed in place since") != std::string::npos);
        CHECK(works);
    }
}

TEST_CASE("a unit that is used twice has DDP's gradients") {
    const auto by_rank = on_ranks(2, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net replica, net;
        net.load_state_dict(replica.state_dict());
        replica.order = net.order = {0, 1, 2, 3, 3};
        DistributedDataParallel ddp(replica);
        FullyShardedDataParallel fsdp(net, kUnits);
        optim::SGD one(replica.parameters(), {.lr = 0.1}),
            two(fsdp.shards(), {.lr = 0.1});
        for (int step = 0; step < 3; ++step) {
            one.zero_grad();
            two.zero_grad();
            const Tensor batch = net_batch(group.rank(), step);
            loss_of(ddp(batch)).backward();
            loss_of(fsdp(batch)).backward();
            one.step();
            two.step();
        }
        return std::pair(flat_values(fsdp.full_state_dict(group.rank())),
                         flat_parameters(replica));
    });
    for (const auto& [found, expected] : by_rank) CHECK(found == expected);
}

// ---- the state

TEST_CASE("a state can be loaded on another number of ranks") {
    const int before = GENERATE(1, 2, 3), after = GENERATE(1, 2, 4, 7);
    const auto& kind = GENERATE(from_range(kOptimizers));
    const Make& make = kind.second;
    CAPTURE(before, after, kind.first);
    struct Saved {
        nn::NamedTensors full, sharded;
        OptimizerState optimizer;
        Values later;  // after one more step, with all gradients 0
    };
    const auto step_with_zeros = [](optim::Optimizer& optimizer) {
        for (const Tensor& shard : optimizer.parameters())
            Tensor(shard).set_grad(shard.new_zeros(shard.shape()));
        optimizer.step();
    };
    const auto saved = on_ranks(before, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits);
        const auto optimizer = make(fsdp.shards());
        for (int step = 0; step < 2; ++step) {
            optimizer->zero_grad();
            loss_of(fsdp(net_batch(group.rank(), step))).backward();
            optimizer->step();
        }
        Saved state{.full = fsdp.full_state_dict(),
                    .sharded = fsdp.sharded_state_dict(),
                    .optimizer = optimizer->state_dict(),
                    .later = {}};
        for (auto& [of, tensor] : state.sharded) tensor = ops::clone(tensor);
        for (auto& [of, tensor] : state.optimizer.tensors) tensor = ops::clone(tensor);
        step_with_zeros(*optimizer);
        state.later = flat_values(fsdp.full_state_dict());
        return state;
    });
    CHECK(saved[0].full.size() == 8);
    if (before > 1) CHECK(saved[1].full.empty());

    std::vector<nn::NamedTensors> sharded;
    std::vector<OptimizerState> optimizers;
    for (const Saved& each : saved) {
        sharded.push_back(each.sharded);
        optimizers.push_back(each.optimizer);
    }
    const auto loaded = on_ranks(after, [&](dist::ProcessGroup& group) {
        Net one, two;
        FullyShardedDataParallel from_shards(one, kUnits), from_full(two, kUnits);
        uint64_t position = 0;
        group.events().since(position);
        from_shards.load_sharded_state_dict(sharded);
        from_full.load_full_state_dict(saved[0].full);
        int64_t collectives = 0;
        for (const Event& event : group.events().since(position))
            collectives += event.kind == EventKind::kCollectiveBegin;
        const auto optimizer = make(from_shards.shards());
        optimizer->load_state_dict(from_shards.reshard_optimizer_state(optimizers));
        const int rank = group.rank();
        std::vector<Values> values{flat_values(from_shards.full_state_dict(rank)),
                                   flat_values(from_full.full_state_dict(rank))};
        step_with_zeros(*optimizer);
        values.push_back(flat_values(from_shards.full_state_dict(rank)));
        return std::pair(values, collectives);
    });
    for (const auto& [values, collectives] : loaded) {
        CHECK(values[0] == flat_values(saved[0].full));
        CHECK(values[1] == flat_values(saved[0].full));
        CHECK(values[2] == saved[0].later);
        CHECK(collectives == 0);
    }
}

TEST_CASE("buffers are in both states, and rank 0's at first") {
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
        full.load_full_state_dict(fsdp.full_state_dict(group.rank()));
        sharded.load_sharded_state_dict(std::vector(2, fsdp.sharded_state_dict()));
        return std::vector<Values>{model.buffers()[0].to_vector<float>(),
                                   other.buffers()[0].to_vector<float>(),
                                   third.buffers()[0].to_vector<float>()};
    });
    for (const auto& values : by_rank)
        for (const Values& each : values) CHECK(each == Values{4, 4, 4});
}

// ---- errors

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
        errors.push_back(concat(module.weights[0].is_freed()));
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
    CHECK(by_rank[1][5] == "1");
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
