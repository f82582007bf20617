// The checks of lab 21, task 21.6: the full and the sharded state.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/tensor/buffer_cache.hpp"

using namespace mini;
using namespace mini::lab21;
using parallel::reshard;

namespace {

// Returns a full state's values, tensor by tensor.
std::vector<Values> values_in(const nn::NamedTensors& state) {
    std::vector<Values> all;
    for (const auto& [name, tensor] : state) all.push_back(tensor.to_vector<float>());
    return all;
}

Names names_in(const nn::NamedTensors& state) {
    Names names;
    for (const auto& [name, tensor] : state) names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("a shard is cut out of the shards of another number of ranks",
          "[lab21][lab21.6]") {
    const int64_t numel = GENERATE(1, 2, 5, 20, 42);
    const auto parts = [&](int ranks) {
        std::vector<Tensor> shards;
        for (int rank = 0; rank < ranks; ++rank) {
            Values part = part_of(labs::count_up(numel), rank, ranks);
            for (float& value : part)
                if (value == 0) value = 99;  // a padding that an optimizer has changed
            shards.push_back(Tensor::from(part));
        }
        return shards;
    };
    for (const int from : {1, 2, 3, 4, 7})
        for (const int to : {1, 2, 3, 4, 7}) {
            std::vector<Tensor> shards = parts(from);
            for (int rank = 0; rank < to; ++rank) {
                const Tensor found = reshard(shards, numel, rank, to);
                INFO("the values 1 to " << numel << ", from " << from << " ranks to rank "
                                        << rank << " of " << to);
                REQUIRE(found.to_vector<float>() ==
                        part_of(labs::count_up(numel), rank, to));
                INFO("the result is a new tensor, and its padding is 0");
                for (const Tensor& shard : shards)
                    REQUIRE_FALSE(found.shares_storage(shard));
            }
        }
}

TEST_CASE("the full state is on one rank, as the module had it", "[lab21][lab21.6]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    for (const Job& job : kJobs) {
        const int to = ranks - 1;
        const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            manual_seed(3);
            const auto plain = job.make(), model = job.make();
            model->load_state_dict(plain->state_dict());
            FullyShardedDataParallel fsdp(*model, job.units);
            const nn::NamedTensors state = fsdp.full_state_dict(to);
            const int freed = count_freed(*model);
            // A later step does not change a state that was saved.
            for (const Tensor& shard : fsdp.shards()) {
                Tensor values = shard.detach();
                ops::fill_(values, 0.0f);
            }
            fsdp.full_state_dict(0);
            const nn::NamedTensors expected =
                group.rank() == to ? plain->state_dict() : nn::NamedTensors();
            return std::tuple(values_in(state) == values_in(expected),
                              names_in(state) == names_in(expected),
                              freed == static_cast<int>(model->parameters().size()));
        });
        for (size_t rank = 0; rank < seen.size(); ++rank) {
            const auto& [same_values, same_names, is_freed] = seen[rank];
            INFO("the full state on rank " << to << " of " << ranks << ": " << job.name
                                           << "; this is rank " << rank);
            INFO("rank `to` has copies of all tensors, and other ranks have none");
            CHECK(same_names);
            CHECK(same_values);
            INFO("after it all parameters are freed again");
            CHECK(is_freed);
        }
    }
}

TEST_CASE("the full state is gathered unit by unit", "[lab21][lab21.6]") {
    int64_t most = 0;
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        class Deep : public nn::Module {
          public:
            Deep() {
                for (int i = 0; i < 6; ++i)
                    make_module<nn::Linear>(concat("fc", i), 100, 100);
            }
            Tensor forward(const Tensor& x) override { return x; }
        };
        Deep deep;
        FullyShardedDataParallel fsdp(
            deep, {"fc0", "fc1", "fc2", "fc3", "fc4", "fc5"},
            {.process_group = std::make_shared<FiveInOne>(alone)});
        const auto before = static_cast<int64_t>(allocated_bytes());
        reset_peak_bytes();
        fsdp.full_state_dict(1);
        most = static_cast<int64_t>(max_allocated_bytes()) - before;
    });
    INFO("rank 0 of 5 does not receive; 6 units of 40,400 bytes: it has one at a time");
    CHECK(most < 50'000);
    CHECK(most > 40'000);
}

TEST_CASE("training goes on with the same bits from a state of other ranks",
          "[lab21][lab21.6]") {
    const auto jobs =
        GENERATE(std::pair(1, 3), std::pair(2, 4), std::pair(3, 2), std::pair(4, 1));
    const int before = jobs.first, after = jobs.second;
    struct Saved {
        nn::NamedTensors full, sharded;
        OptimizerState optimizer;
        std::vector<Values> later;  // of the full state after one more step
    };
    // All gradients are 1: the step depends on the state of Adam alone.
    const auto step_with_ones = [](FullyShardedDataParallel& fsdp, optim::Adam& adam) {
        for (const auto& shard : fsdp.shards())
            Tensor(shard).set_grad(Tensor::ones(shard.shape()));
        adam.step();
    };
    const auto saved = on_ranks(before, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits);
        optim::Adam adam(fsdp.shards(), {.lr = 0.01});
        for (int step = 0; step < 2; ++step) {
            adam.zero_grad();
            loss_of(fsdp(net_batch(group.rank(), step))).backward();
            adam.step();
        }
        Saved state{.full = fsdp.full_state_dict(),
                    .sharded = fsdp.sharded_state_dict(),
                    .optimizer = adam.state_dict(),
                    .later = {}};
        for (auto& [name, tensor] : state.sharded) tensor = ops::clone(tensor);
        for (auto& [name, tensor] : state.optimizer.tensors) tensor = ops::clone(tensor);
        step_with_ones(fsdp, adam);
        state.later = values_in(fsdp.full_state_dict());
        return state;
    });
    std::vector<nn::NamedTensors> sharded;
    std::vector<OptimizerState> optimizers;
    for (const Saved& each : saved) {
        sharded.push_back(each.sharded);
        optimizers.push_back(each.optimizer);
    }
    const auto loaded = on_ranks(after, [&](dist::ProcessGroup& group) {
        Net one, two;
        FullyShardedDataParallel from_shards(one, kUnits), from_full(two, kUnits);
        from_shards.load_sharded_state_dict(sharded);
        from_full.load_full_state_dict(saved[0].full);
        optim::Adam adam(from_shards.shards(), {.lr = 0.01});
        adam.load_state_dict(from_shards.reshard_optimizer_state(optimizers));
        const int rank = group.rank();
        const auto shards = values_in(from_shards.full_state_dict(rank));
        const auto full = values_in(from_full.full_state_dict(rank));
        step_with_ones(from_shards, adam);
        return std::tuple(shards, full, values_in(from_shards.full_state_dict(rank)));
    });
    const std::vector<Values> expected = values_in(saved[0].full);
    for (const auto& [shards, full, later] : loaded) {
        INFO("two steps of Adam on " << before << " ranks, then a state, loaded on "
                                     << after);
        CHECK(shards == expected);
        CHECK(full == expected);
        INFO("one more step needs the optimizer's state of each element");
        CHECK(later == saved[0].later);
    }
}

TEST_CASE("a state of too few ranks is an error, and changes nothing",
          "[lab21][lab21.6]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        Net net;
        FullyShardedDataParallel fsdp(net, kUnits);
        const auto before = values_in(fsdp.full_state_dict(group.rank()));
        nn::NamedTensors own = fsdp.sharded_state_dict();
        for (auto& [name, tensor] : own) tensor = ops::clone(tensor);
        const std::string error = error_of([&] { fsdp.load_sharded_state_dict({own}); });
        return std::pair(error, values_in(fsdp.full_state_dict(group.rank())) == before);
    });
    for (const auto& [error, unchanged] : seen) {
        INFO("the shards of one rank of two, as if there had been one: " << error);
        CHECK(error != "no error");
        CHECK(unchanged);
    }
}
