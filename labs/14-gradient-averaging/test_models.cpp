// The checks of lab 14, tasks 14.5 and 14.6: averaged models.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "labs/14-gradient-averaging/test_points.hpp"

using namespace mini;
using namespace mini::lab14;

// ---- 14.5

TEST_CASE("average_parameters starts everything before it waits", "[lab14][lab14.5]") {
    const auto journals = on_ranks(2, [](dist::ProcessGroup& group) {
        labs::WatchedGroup watched(group);
        const Counted model(group.rank());
        parallel::average_parameters(model, watched);
        return watched.journal;
    });
    for (const labs::Journal& journal : journals) {
        INFO("two parameters and two buffers; the calls: " << labs::in_words(journal));
        REQUIRE(journal.size() == 8);
        for (size_t i = 0; i < 8; ++i)
            CHECK(journal[i].starts_with(i < 4 ? "start" : "wait"));
    }
}

TEST_CASE("average_parameters leaves the mean model and rank 0's counters on all ranks",
          "[lab14][lab14.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Counted model(group.rank());
        for (const Tensor& parameter : model.parameters()) {
            Tensor values = parameter.detach();
            ops::fill_(values, static_cast<float>(group.rank() + 1));
        }
        parallel::average_parameters(model, group);
        return state_of(model);
    });
    const auto mean = static_cast<float>(ranks + 1) / 2;
    for (const State& rank : seen) {
        INFO("ranks 0 .. " << ranks - 1 << " hold 1 .. " << ranks
                           << " in all parameters; the mean is " << mean);
        for (const float parameter : rank.parameters)
            REQUIRE(parameter == about(mean, 1e-5));
        CHECK(rank.parameters == seen[0].parameters);
        INFO("a running mean is averaged too, a count of batches is rank 0's");
        for (const float value : rank.mean) CHECK(value == about(mean, 1e-5));
        CHECK(rank.count == 10);
    }
}

TEST_CASE("averaging once at the end differs from training on the whole batch",
          "[lab14][lab14.5]") {
    // Two ranks train separately on their halves; then their models are averaged.
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        manual_seed(3);
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(group.rank(), 2);
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
            for (const data::Batch& batch : loader) {
                optimizer.zero_grad();
                cross_entropy(model(batch.data), batch.target).backward();
                optimizer.step();
            }
        parallel::average_parameters(model, group);
        return values_of(model.parameters());
    });
    CHECK(seen[0] == seen[1]);
    const float difference = largest_difference(seen[0], trained_alone().parameters);
    INFO("the mean of two models that trained separately differs by " << difference);
    CHECK(difference > 1e-3f);
}

// ---- 14.6

namespace {

// Each rank's batches have one sample: 24 steps per epoch on 1 rank, 8 on 3, 3 on 7.
int64_t steps_of(int ranks) { return kSamples / ranks; }

// Trains two epochs by local SGD on `ranks` ranks.
std::vector<Trained> trained_locally(int ranks, int64_t period) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(group.rank(), ranks, ranks);
        Trained trained;
        for (int epoch = 0; epoch < 2; ++epoch)
            trained.losses.push_back(
                tutorial::train_epoch_locally(model, loader, optimizer, group, period));
        trained.parameters = values_of(model.parameters());
        trained.all_reduces = all_reduces(group);
        return trained;
    });
}

struct Replica {
    explicit Replica(data::DataLoader its_loader) : loader(std::move(its_loader)) {}
    nn::Linear model{4, 3};
    optim::SGD optimizer{model.parameters(), kSgd};
    data::DataLoader loader;
};
using Replicas = std::vector<std::unique_ptr<Replica>>;

void set_all_to_the_mean(const Replicas& replicas) {
    for (size_t k = 0; k < 2; ++k) {
        Values mean(replicas[0]->model.parameters()[k].to_vector<float>().size());
        for (const auto& replica : replicas) {
            const auto values = replica->model.parameters()[k].to_vector<float>();
            for (size_t i = 0; i < mean.size(); ++i)
                mean[i] += values[i] / static_cast<float>(replicas.size());
        }
        for (const auto& replica : replicas)
            std::ranges::copy(mean, replica->model.parameters()[k].span<float>().begin());
    }
}

// Trains like trained_locally, but one thread makes the steps of all ranks in turn.
Trained trained_in_turn(int ranks, int64_t period) {
    Replicas replicas;
    for (int rank = 0; rank < ranks; ++rank) {
        manual_seed(3);
        replicas.push_back(std::make_unique<Replica>(slices(rank, ranks, ranks)));
    }
    Trained trained;
    for (int epoch = 0; epoch < 2; ++epoch) {
        std::vector<std::vector<data::Batch>> batches;
        for (const auto& replica : replicas) {
            batches.emplace_back();
            for (const data::Batch& batch : replica->loader)
                batches.back().push_back(batch);
        }
        double sum = 0;
        for (int64_t step = 0; step < steps_of(ranks); ++step) {
            for (size_t rank = 0; rank < replicas.size(); ++rank) {
                auto& [model, optimizer, loader] = *replicas[rank];
                const data::Batch& batch = batches[rank][static_cast<size_t>(step)];
                optimizer.zero_grad();
                const Tensor loss = cross_entropy(model(batch.data), batch.target);
                loss.backward();
                optimizer.step();
                sum += loss.item();
            }
            if ((step + 1) % period == 0 || step + 1 == steps_of(ranks))
                set_all_to_the_mean(replicas);
        }
        trained.losses.push_back(sum / static_cast<double>(steps_of(ranks) * ranks));
    }
    trained.parameters = values_of(replicas[0]->model.parameters());
    return trained;
}

}  // namespace

TEST_CASE("local SGD averages the parameters after each period and after the last step",
          "[lab14][lab14.6]") {
    const auto period = GENERATE(int64_t{1}, int64_t{2}, int64_t{3}, int64_t{5}, 100);
    for (const Trained& rank : trained_locally(3, period)) {
        // 48 bytes for the weight and 12 for the bias; at the end 4 for the loss.
        std::vector<int64_t> expected;
        for (int epoch = 0; epoch < 2; ++epoch) {
            for (int64_t average = 0; average < (8 + period - 1) / period; ++average)
                expected.insert(expected.end(), {48, 12});
            expected.push_back(4);
        }
        INFO("an epoch of 8 steps on 3 ranks, with a period of " << period);
        INFO("so " << (8 + period - 1) / period
                   << " averages of 48 and 12 bytes, then 4");
        INFO("bytes for the loss, and this twice. The all-reduces in the event log:");
        INFO(concat(rank.all_reduces));
        REQUIRE(rank.all_reduces == expected);
    }
}

TEST_CASE("local SGD goes on from the mean of the replicas", "[lab14][lab14.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto period = GENERATE(int64_t{1}, int64_t{2}, int64_t{3}, 100);
    const Trained expected = trained_in_turn(ranks, period);
    const auto seen = trained_locally(ranks, period);
    for (const Trained& rank : seen) {
        // Sums of at most 7 numbers in another order: a few units in the last place.
        const float difference = largest_difference(rank.parameters, expected.parameters);
        INFO(ranks << " ranks, batches of one sample, 2 epochs of " << steps_of(ranks)
                   << " steps, a mean after every " << period);
        INFO("one thread made the same steps in turn: a parameter differs by "
             << difference
             << "; does each rank step by its own gradient, and go on from");
        INFO("the mean? Does a new epoch count from 0?");
        REQUIRE(difference < 1e-4f);
        INFO("after the epoch all replicas must be bitwise identical");
        REQUIRE(rank.parameters == seen[0].parameters);
        for (size_t epoch = 0; epoch < 2; ++epoch) {
            INFO("the loss of epoch " << epoch << ", before each step, is the mean over "
                                      << "batches and ranks");
            REQUIRE(rank.losses[epoch] == about(expected.losses[epoch], 1e-4));
        }
    }
}

TEST_CASE("local SGD with a period of one step is training on the whole batch",
          "[lab14][lab14.6]") {
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        manual_seed(3);
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(group.rank(), 3);
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
            tutorial::train_epoch_locally(model, loader, optimizer, group, 1);
        return values_of(model.parameters());
    });
    const float difference = largest_difference(seen[0], trained_alone().parameters);
    INFO("SGD's step is linear in the gradient, so the mean of the models after one");
    INFO("step is the model after a step by the mean gradient; they differ by "
         << difference);
    CHECK(difference < 1e-5f);
}

TEST_CASE("a period below one step is refused", "[lab14][lab14.6]") {
    const int64_t period = GENERATE(0, -1);
    const auto messages = on_ranks(1, [&](dist::ProcessGroup& group) {
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(0, 1);
        tutorial::train_epoch_locally(model, loader, optimizer, group, 1);
        return test::message_of<UsageError>([&] {
            tutorial::train_epoch_locally(model, loader, optimizer, group, period);
        });
    });
    INFO("a period of " << period << " is a UsageError, which names it");
    CHECK_THAT(messages[0], ContainsSubstring(concat(period)));
}
