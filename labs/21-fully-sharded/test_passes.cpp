// The checks of lab 21, task 21.4: the passes of FullyShardedDataParallel, without gathers
// ahead of use.

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

#include "labs/21-fully-sharded/test_steps.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/parallel/ddp.hpp"

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

}  // namespace

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
