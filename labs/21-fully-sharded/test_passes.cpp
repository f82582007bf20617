// The checks of lab 21, tasks 21.4 and 21.5: the passes of FullyShardedDataParallel, first
// without and then with gathers ahead of use.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/buffer_cache.hpp"

using namespace mini;
using namespace mini::lab21;
using parallel::DistributedDataParallel;

namespace {

using Make = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;
const std::vector<std::pair<std::string, Make>> kOptimizers{
    {"SGD with momentum",
     [](std::vector<Tensor> parameters) {
         return std::make_unique<optim::SGD>(
             std::move(parameters),
             optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
     }},
    {"Adam", [](std::vector<Tensor> parameters) {
         return std::make_unique<optim::Adam>(std::move(parameters),
                                              optim::AdamOptions{.lr = 0.01});
     }}};

// Trains `steps` steps by DDP and sharded; returns the first difference on each rank.
Names differences_to_ddp(const Job& job, const Make& make, int ranks, int steps,
                         bool prefetch) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto replica = job.make(), whole = job.make();
        whole->load_state_dict(replica->state_dict());
        DistributedDataParallel ddp(*replica);
        FullyShardedDataParallel fsdp(*whole, job.units, {.prefetch = prefetch});
        const auto one = make(replica->parameters()), all = make(fsdp.shards());
        for (int step = 0; step < steps; ++step) {
            const Tensor batch = job.batch(group.rank(), step);
            one->zero_grad();
            loss_of(ddp(batch)).backward();
            one->step();
            all->zero_grad();
            loss_of(fsdp(batch)).backward();
            all->step();
        }
        return first_difference(
            values_by_unit(fsdp),
            own_parts(replica->named_parameters(), fsdp.units(), job.units, group),
            fsdp.units());
    });
}

// What a rank's last pass of several did: the lines of its group and of its layers.
struct Pass {
    Journal forward, backward;
    int freed_after_forward = 0, freed_after_backward = 0;  // of 8 parameters
};

// Returns the last of `passes` passes of each of two ranks; `orders` has the order of the
// layers' calls in each pass, or only one for all.
std::vector<Pass> last_pass(const std::vector<std::vector<size_t>>& orders,
                            const Names& units, bool prefetch) {
    return on_ranks(2, [&](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Net net;
        FullyShardedDataParallel fsdp(net, units,
                                      {.process_group = watched, .prefetch = prefetch});
        net.note_in(watched->journal);
        Pass pass;
        for (size_t i = 0; i < orders.size(); ++i) {
            net.order = orders[i];
            watched->journal.clear();
            const Tensor loss =
                loss_of(fsdp(net_batch(group.rank(), static_cast<int>(i))));
            pass.forward = watched->journal;
            pass.freed_after_forward = count_freed(net);
            watched->journal.clear();
            loss.backward();
            pass.backward = watched->journal;
            pass.freed_after_backward = count_freed(net);
        }
        return pass;
    });
}

// The bytes of the shards of the layers on two ranks, which name their collectives.
const std::vector<int64_t> kBytes{40, 84, 32, 12};

std::string gather_of(size_t layer) { return concat("all_gather ", kBytes[layer]); }
std::string reduce_of(size_t layer) { return concat("reduce_scatter ", kBytes[layer]); }

// Checks that these lines are in the journal, in this order.
void check_order(const Journal& journal, const Journal& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
        INFO("in: " << in_words(journal));
        INFO("a line begins with \""
             << lines[i] << '"'
             << (i > 0 ? concat(", after \"", lines[i - 1], '"') : std::string()));
        REQUIRE(place_of(journal, lines[i]) >= 0);
        if (i > 0) REQUIRE(place_of(journal, lines[i - 1]) < place_of(journal, lines[i]));
    }
}

// Twelve layers of 40,400 bytes, so that a unit's memory is much more than its result's.
class Deep : public nn::Module {
  public:
    Deep() {
        for (int i = 0; i < 12; ++i)
            layers.push_back(&make_module<nn::Linear>(concat("fc", i), 100, 100));
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (nn::Linear* const layer : layers) y = tanh((*layer)(y));
        return y;
    }
    std::vector<nn::Linear*> layers;
};

constexpr int64_t kLayer = 40'400;

// Bytes on rank 0 of 5 with Deep: after the constructor, and at the peaks of the passes.
struct Bytes {
    int64_t shards = 0, forward = 0, backward = 0, after = 0;
};

Bytes count_bytes(bool prefetch) {
    Bytes bytes;
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        const auto base = static_cast<int64_t>(allocated_bytes());
        const auto now = [&](size_t count) { return static_cast<int64_t>(count) - base; };
        Deep deep;
        Names units;
        for (int i = 0; i < 12; ++i) units.push_back(concat("fc", i));
        FullyShardedDataParallel fsdp(
            deep, units,
            {.process_group = std::make_shared<FiveInOne>(alone), .prefetch = prefetch});
        bytes.shards = now(allocated_bytes());
        const Tensor x = Tensor::ones({1, 100});
        for (int step = 0; step < 2; ++step) {
            for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
            reset_peak_bytes();
            Tensor loss = loss_of(fsdp(x));
            bytes.forward = now(max_allocated_bytes());
            reset_peak_bytes();
            loss.backward();
            bytes.backward = now(max_allocated_bytes());
        }
        bytes.after = now(allocated_bytes());
    });
    return bytes;
}

// Checks the memory with at most `units` units gathered.
void check_bytes(bool prefetch, int64_t units) {
    const Bytes bytes = count_bytes(prefetch);
    const int64_t shards = 12 * kLayer / 5;
    INFO(
        "12 units of 40,400 bytes on rank 0 of 5; results and rounding take less than "
        "20,000");
    {
        INFO("after the constructor: the shards, a fifth of 484,800 bytes; found "
             << bytes.shards);
        CHECK(bytes.shards < shards + 20'000);
    }
    {
        INFO("in the forward pass at most " << units << " units more; found "
                                            << bytes.forward);
        CHECK(bytes.forward < shards + units * kLayer + 20'000);
    }
    {
        INFO("in the backward pass at most "
             << units << " units, two flat gradients, the gradient that a layer has "
             << "just computed, and those of the shards; found " << bytes.backward);
        CHECK(bytes.backward < 2 * shards + (units + 3) * kLayer + 20'000);
    }
    INFO("between the steps the shards and their gradients; found " << bytes.after);
    CHECK(bytes.after < 2 * shards + 20'000);
}

}  // namespace

// ---- 21.4

TEST_CASE("on one and two ranks the shards are bitwise those of DDP",
          "[lab21][lab21.4]") {
    const int ranks = GENERATE(1, 2);
    for (const Job& job : kJobs)
        for (const auto& [name, make] : kOptimizers)
            for (const std::string& difference :
                 differences_to_ddp(job, make, ranks, 3, /*prefetch=*/false)) {
                INFO("3 steps of " << name << " on " << ranks << " ranks: " << job.name);
                INFO("a sum of two terms has one order: every bit is DDP's");
                REQUIRE(difference == "none");
            }
}

// Both sums add the same P terms t_r, in other orders. Each of the P - 1 additions has a
// relative error of at most u = 2^-24, and so have the product with 1 / P and 1 / P itself:
// a sum has an error of at most (P + 1) u (|t_0| + ... + |t_P-1|) to first order, and two
// sums differ by twice that.
TEST_CASE("on more ranks the gradients are DDP's within the rounding of a sum",
          "[lab21][lab21.4]") {
    const int ranks = GENERATE(3, 4);
    for (const Job& job : kJobs) {
        const auto by_rank = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            manual_seed(3);
            const Tensor batch = job.batch(group.rank(), 0);
            const auto alone = job.make(), replica = job.make(), whole = job.make();
            replica->load_state_dict(alone->state_dict());
            whole->load_state_dict(alone->state_dict());
            DistributedDataParallel ddp(*replica);
            loss_of(ddp(batch)).backward();
            FullyShardedDataParallel fsdp(*whole, job.units, {.prefetch = false});
            loss_of(fsdp(batch)).backward();
            loss_of((*alone)(batch)).backward();
            const auto flat = [&](const nn::Module& module) {
                return by_unit(gradients_of(module), fsdp.units(), job.units);
            };
            double worst = 0.0;
            const auto expected = flat(*replica), own = flat(*alone);
            const auto found = gradients_by_unit(fsdp);
            for (size_t unit = 0; unit < found.size(); ++unit) {
                const auto terms = dist::all_gather_values(group, own[unit]);
                const Values right = part_of(expected[unit], group.rank(), ranks);
                if (found[unit].size() != right.size())
                    return std::numeric_limits<double>::infinity();
                for (size_t i = 0; i < right.size(); ++i) {
                    double sum = 0.0;
                    const size_t at =
                        static_cast<size_t>(group.rank()) * right.size() + i;
                    for (const Values& term : terms)
                        if (at < term.size()) sum += std::abs(term[at] / ranks);
                    const double apart =
                        std::abs(static_cast<double>(found[unit][i]) - right[i]);
                    const double bound = 2 * (ranks + 1) * 0x1p-24 * sum + 0x1p-149;
                    worst = std::max(worst, apart / bound);
                }
            }
            return worst;
        });
        for (const double worst : by_rank) {
            INFO("one pass on " << ranks << " ranks: " << job.name
                                << "; the largest difference of a gradient, as a part of "
                                << "the rounding of its sum, is " << worst);
            REQUIRE(worst <= 1.0);
        }
    }
}

TEST_CASE("a unit is in memory while it computes, in both passes, and no other",
          "[lab21][lab21.4]") {
    const auto check = [](const Names& units, const Journal& forward,
                          const Journal& backward) {
        const auto seen = last_pass({{0, 1, 2, 3}, {0, 1, 2, 3}}, units, false);
        for (const Pass& pass : seen) {
            INFO("without prefetch, the units " << concat(units)
                                                << "; in brackets: layers in memory");
            CHECK(layers_of(pass.forward) == forward);
            CHECK(layers_of(pass.backward) == backward);
            INFO("after a pass no parameter of the 8 is in memory");
            CHECK(pass.freed_after_forward == 8);
            CHECK(pass.freed_after_backward == 8);
        }
    };
    check(kUnits, {"forward 0 [0]", "forward 1 [1]", "forward 2 [2]", "forward 3 [3]"},
          {"backward 3 [3]", "backward 2 [2]", "backward 1 [1]", "backward 0 [0]"});
    // The module's own unit, of the layers 1 and 3, encloses the other two.
    check(
        {"fc0", "fc2"},
        {"forward 0 [0 1 3]", "forward 1 [1 3]", "forward 2 [1 2 3]", "forward 3 [1 3]"},
        {"backward 3 [1 3]", "backward 2 [1 2 3]", "backward 1 [1 3]", "backward 0 [0]"});
}

TEST_CASE("a step is two gathers and one reduce-scatter a unit, and sends no more",
          "[lab21][lab21.4]") {
    const Pass pass = last_pass({{0, 1, 2, 3}, {0, 1, 2, 3}}, kUnits, false)[0];
    for (const Journal* const journal : {&pass.forward, &pass.backward}) {
        const bool is_backward = journal == &pass.backward;
        INFO((is_backward ? "backward: " : "forward: ") << in_words(*journal));
        CHECK(count_of(*journal, "start all_gather") == 4);
        CHECK(count_of(*journal, "start reduce_scatter") == (is_backward ? 4 : 0));
        INFO("no other collective, and each is waited for");
        CHECK(count_of(*journal, "start") == (is_backward ? 8 : 4));
        CHECK(count_of(*journal, "wait") == (is_backward ? 8 : 4));
    }
    const int ranks = GENERATE(1, 2, 3, 4);
    const auto sent = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits, {.prefetch = false});
        uint64_t position = 0;
        group.events().since(position);
        loss_of(fsdp(net_batch(group.rank(), 0))).backward();
        int64_t bytes = 0;
        for (const Event& event : group.events().since(position))
            if (event.kind == EventKind::kCollectiveEnd) bytes += event.bytes;
        return bytes;
    });
    int64_t padded = 0;  // the bytes of all shards of a rank
    for (const int64_t numel : kNumel) padded += 4 * shard_numel(numel, ranks);
    INFO("with P = " << ranks << " a rank sends 3 (P - 1) shards of each unit: "
                     << 3 * (ranks - 1) * padded << " bytes");
    for (const int64_t bytes : sent) CHECK(bytes == 3 * (ranks - 1) * padded);
}

TEST_CASE("a reduction runs while the next unit computes, and two at most exist",
          "[lab21][lab21.4]") {
    for (const Pass& pass : last_pass({{0, 1, 2, 3}}, kUnits, false)) {
        for (size_t i = 4; i-- > 0;)
            check_order(pass.backward,
                        {concat("backward ", i), "start " + reduce_of(i),
                         i > 0 ? concat("backward ", i - 1) : "wait " + reduce_of(i)});
        for (size_t i = 3; i > 0; --i) {
            INFO("the reduction of layer " << i << " is waited for when that of layer "
                                           << i - 1 << " is due: before layer " << i - 2
                                           << " computes, if there is one");
            check_order(pass.backward,
                        {concat("backward ", i - 1), "wait " + reduce_of(i)});
            if (i > 1)
                check_order(pass.backward,
                            {"wait " + reduce_of(i), concat("backward ", i - 2)});
        }
    }
}

TEST_CASE("a rank has its shards, one unit, and two units' gradients in memory",
          "[lab21][lab21.4]") {
    check_bytes(/*prefetch=*/false, 1);
}

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
            nn::NamedTensors gradients = gradients_of(plain);
            for (auto& [name, gradient] : gradients)
                group.all_reduce(gradient, dist::ReduceOp::kAvg);
            return own_parts(gradients, kUnits, kUnits, group);
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
        nn::NamedTensors gradients = gradients_of(plain);
        for (auto& [name, gradient] : gradients)
            group.all_reduce(gradient, dist::ReduceOp::kAvg);
        watched->journal.clear();
        loss_of(fsdp(batch)).backward();
        const std::string twice = first_difference(
            gradients_by_unit(fsdp), own_parts(gradients, kUnits, kUnits, group), kUnits);
        const int64_t reductions = count_of(watched->journal, "start reduce_scatter");
        for (const Tensor& shard : fsdp.shards()) Tensor(shard).set_grad({});
        net.order = {0, 1};
        loss_of(fsdp(batch)).backward();
        return std::tuple(twice, reductions, fsdp.shards()[1].grad().defined(),
                          fsdp.shards()[2].grad().defined());
    });
    for (const auto& [twice, reductions, called, not_called] : seen) {
        INFO("the last of four layers is called twice: its gradients are one sum");
        CHECK(twice == "none");
        CHECK(reductions == 4);
        CHECK(called);
        INFO("a unit that is not called has no gradient, and its reduction is left out");
        CHECK_FALSE(not_called);
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
        const NoGradGuard no_grad;
        const Tensor batch = net_batch(group.rank(), 0);
        const bool is_same =
            fsdp(batch).to_vector<float>() == plain(batch).to_vector<float>();
        return std::tuple(is_same, count_freed(net),
                          model.buffers()[0].to_vector<float>());
    });
    for (const auto& [is_same, freed, buffer] : seen) {
        INFO("under NoGradGuard, on " << ranks << " ranks");
        CHECK(is_same);
        CHECK(freed == 8);
        INFO("a buffer is 4 + rank before the constructor");
        CHECK(buffer == Values{4, 4, 4});
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
    const auto seen = on_ranks(2, [](dist::ProcessGroup&) {
        Branches module;
        FullyShardedDataParallel fsdp(module, {}, {.prefetch = false});
        const Tensor loss = fsdp(Tensor::ones({2}));
        const std::string error = error_of([&] { loss.backward(); });
        module.both = true;
        fsdp(Tensor::ones({2})).backward();
        return std::pair(error, fsdp.shards()[0].grad().to_vector<float>());
    });
    for (const auto& [error, gradient] : seen) {
        INFO("`right` took no part in the loss: " << error);
        CHECK(error.find("right") != std::string::npos);
        CHECK(error.find("left") == std::string::npos);
        INFO("the next pass is not disturbed by the one that failed");
        CHECK(gradient == Values{1, 1});
    }
}

// ---- 21.5

TEST_CASE("the next unit is gathered while a unit computes, in both passes",
          "[lab21][lab21.5]") {
    for (const Pass& pass : last_pass({{0, 1, 2, 3}, {0, 1, 2, 3}}, kUnits, true)) {
        INFO("the second pass; in brackets: layers in memory");
        {
            INFO("forward: " << in_words(pass.forward));
            CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]",
                                                     "forward 2 [2 3]", "forward 3 [3]"});
        }
        {
            INFO("backward: " << in_words(pass.backward));
            CHECK(layers_of(pass.backward) ==
                  Journal{"backward 3 [2 3]", "backward 2 [1 2]", "backward 1 [0 1]",
                          "backward 0 [0]"});
        }
        for (size_t i = 0; i + 1 < 4; ++i) {
            INFO("the gather is started before the unit computes, and waited for after");
            check_order(pass.forward,
                        {"start " + gather_of(i + 1), concat("forward ", i),
                         "wait " + gather_of(i + 1), concat("forward ", i + 1)});
            check_order(pass.backward,
                        {"start " + gather_of(i), concat("backward ", i + 1),
                         "wait " + gather_of(i), concat("backward ", i)});
        }
        INFO("nothing is gathered twice, and nothing stays in memory");
        CHECK(count_of(pass.forward, "start all_gather") == 4);
        CHECK(count_of(pass.backward, "start all_gather") == 4);
        CHECK(pass.freed_after_forward == 8);
        CHECK(pass.freed_after_backward == 8);
    }
}

TEST_CASE("the next unit is the one that came next in the last pass, not in the list",
          "[lab21][lab21.5]") {
    // Layer 3 maps 2 features to 2, so it can be called anywhere behind layer 2.
    const Pass pass = last_pass({{0, 1, 2, 3}, {0, 1, 2, 3, 3}, {0, 1, 2, 3, 3}},
                                {"fc3", "fc1", "fc0", "fc2"}, true)[0];
    INFO("forward: " << in_words(pass.forward));
    CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]",
                                             "forward 2 [2 3]", "forward 3 [3]",
                                             "forward 3 [3]"});
    CHECK(pass.freed_after_forward == 8);
}

TEST_CASE("in the first forward pass, and after other calls, nothing is gathered ahead",
          "[lab21][lab21.5]") {
    const Journal alone{"forward 0 [0]", "forward 1 [1]", "forward 2 [2]",
                        "forward 3 [3]"};
    {
        INFO("the first pass: no pass before says what comes next");
        CHECK(layers_of(last_pass({{0, 1, 2, 3}}, kUnits, true)[0].forward) == alone);
    }
    {
        const Pass pass = last_pass({{0, 1, 2}, {0, 1}}, kUnits, true)[0];
        INFO("the last pass called 0, 1, 2, and this one calls 0, 1: "
             << in_words(pass.forward));
        CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]"});
        INFO("unit 2 was gathered, but not called: it is freed at the end");
        CHECK(pass.freed_after_forward == 8);
        CHECK(count_of(pass.forward, "wait all_gather") == 3);
    }
    const Pass pass =
        last_pass({{0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2, 3, 3}}, kUnits, true)[0];
    INFO("the last pass called 0, 1, 2, 3, and this one layer 3 once more: "
         << in_words(pass.forward));
    CHECK(layers_of(pass.forward).back() == "forward 3 [3]");
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Square net;
        FullyShardedDataParallel fsdp(net, {"fc0", "fc1", "fc2"});
        Journal journal;
        const Tensor batch = net_batch(group.rank(), 0);
        fsdp(batch);
        net.order = {1, 0, 2};
        net.note_in(journal);
        fsdp(batch);
        return journal;
    });
    for (const Journal& journal : seen) {
        INFO(
            "the last pass called 0, 1, 2, and this one 1, 0, 2: from the first call on "
            "the passes differ");
        CHECK(journal == Journal{"forward 1 [1]", "forward 0 [0]", "forward 2 [2]"});
    }
}

TEST_CASE("a backward pass gathers ahead the calls of its own forward pass",
          "[lab21][lab21.5]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Square net;
        FullyShardedDataParallel fsdp(net, {"fc0", "fc1", "fc2"});
        const Tensor batch = net_batch(group.rank(), 0);
        const auto backward = [&](const Tensor& loss) {
            Journal journal;
            net.note_in(journal);
            loss.backward();
            for (Layer* const layer : net.layers) layer->journal = nullptr;
            return std::pair(journal, count_freed(net));
        };
        const Tensor first = loss_of(fsdp(batch));
        net.order = {1, 0, 2};
        const Tensor second = loss_of(fsdp(batch));
        auto all = std::vector{backward(first), backward(second)};
        net.order = {0, 1, 2};
        net.dropped = 1;
        all.push_back(backward(loss_of(fsdp(batch))));
        return all;
    });
    for (const auto& passes : seen) {
        {
            INFO(
                "two forward passes, of the layers 0, 1, 2 and 1, 0, 2; then backward "
                "through the first, and through the second");
            CHECK(passes[0].first ==
                  Journal{"backward 2 [1 2]", "backward 1 [0 1]", "backward 0 [0]"});
            CHECK(passes[1].first ==
                  Journal{"backward 2 [0 2]", "backward 0 [0 1]", "backward 1 [1]"});
        }
        INFO(
            "the result of layer 1 is not used: its gather ahead is in vain, and it is "
            "freed at the end");
        CHECK(passes[2].first == Journal{"backward 2 [1 2]", "backward 0 [0 1]"});
        CHECK(passes[2].second == 6);
    }
}

TEST_CASE("a rank has its shards and at most two units in memory", "[lab21][lab21.5]") {
    check_bytes(/*prefetch=*/true, 2);
}

TEST_CASE("gathers ahead of use change no bit", "[lab21][lab21.5]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    for (const Job& job : kJobs) {
        const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            const auto train = [&](bool prefetch) {
                manual_seed(3);
                const auto model = job.make();
                FullyShardedDataParallel fsdp(*model, job.units, {.prefetch = prefetch});
                optim::Adam adam(fsdp.shards(), {.lr = 0.01});
                for (int step = 0; step < 3; ++step) {
                    adam.zero_grad();
                    const Tensor first = loss_of(fsdp(job.batch(group.rank(), step)));
                    const Tensor second =
                        loss_of(fsdp(job.batch(group.rank(), step + 7)));
                    (first + second).backward();
                    adam.step();
                }
                return std::pair(values_by_unit(fsdp), fsdp.units());
            };
            const auto [expected, units] = train(false);
            return first_difference(train(true).first, expected, units);
        });
        for (const std::string& difference : seen) {
            INFO("3 steps of two forward passes each on " << ranks
                                                          << " ranks: " << job.name);
            REQUIRE(difference == "none");
        }
    }
}
