// The checks of lab 14, task 14.4: training.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "labs/14-gradient-averaging/test_points.hpp"

using namespace mini;
using namespace mini::lab14;

namespace {

std::vector<Trained> trained_on(int ranks) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(group.rank(), ranks);
        sum(model(Tensor::ones({1, 4}))).backward();  // old gradients
        Trained trained;
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
            trained.losses.push_back(
                tutorial::train_epoch(model, loader, optimizer, group));
        trained.parameters = values_of(model.parameters());
        std::vector<Tensor> gradients;
        for (const Tensor& parameter : model.parameters())
            if (parameter.grad().defined()) gradients.push_back(parameter.grad());
        trained.gradients = values_of(gradients);
        trained.all_reduces = all_reduces(group);
        return trained;
    });
}

}  // namespace

TEST_CASE("several ranks train like one rank on the whole batch", "[lab14][lab14.4]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const Trained alone = trained_alone();
    const auto seen = trained_on(ranks);
    for (const Trained& rank : seen) {
        // 12 gradients are summed in a different order: an error of a few units in the
        // last place of numbers below 2, over 6 steps.
        const float difference = largest_difference(rank.parameters, alone.parameters);
        INFO(
            "after 6 steps on "
            << ranks << " ranks a parameter is " << difference
            << " from where one rank with batches of 12 has it; was every step made with "
               "the averaged gradient of its own batch?");
        CHECK(difference < 1e-5f);
        INFO("all replicas must be bitwise identical");
        CHECK(rank.parameters == seen[0].parameters);
        INFO("a step uses the mean gradient: all ranks have it after the last step");
        CHECK(rank.gradients == seen[0].gradients);
    }
}

TEST_CASE("the loss of an epoch is the mean over its batches and all ranks",
          "[lab14][lab14.4]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const Trained alone = trained_alone();
    for (const Trained& rank : trained_on(ranks))
        for (size_t epoch = 0; epoch < alone.losses.size(); ++epoch) {
            INFO("epoch " << epoch << " on " << ranks << " ranks");
            CHECK(rank.losses[epoch] == about(alone.losses[epoch], 1e-5));
        }
}

TEST_CASE("the loss of an epoch counts batches, not samples", "[lab14][lab14.4]") {
    struct Losses {
        double returned, first, second;
    };
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        const Points points;
        const auto x = ops::narrow(points.x, 0, 0, 3), y = ops::narrow(points.y, 0, 0, 3);
        manual_seed(3);
        nn::Linear model(4, 3);
        const Tensor output = model(x);
        const auto loss_of = [&](int64_t begin, int64_t size) {
            return cross_entropy(ops::narrow(output, 0, begin, size),
                                 ops::narrow(y, 0, begin, size))
                .item();
        };
        optim::SGD optimizer(model.parameters(), {.lr = 0});
        data::DataLoader loader(std::make_shared<data::TensorDataset>(x, y),
                                {.batch_size = 2});
        return Losses{tutorial::train_epoch(model, loader, optimizer, group),
                      loss_of(0, 2), loss_of(2, 1)};
    });
    INFO("two batches, of 2 samples and of 1, with the losses "
         << seen[0].first << " and " << seen[0].second << "; lr is 0");
    CHECK(seen[0].returned == about((seen[0].first + seen[0].second) / 2, 1e-5));
}

TEST_CASE("every step averages each gradient exactly once", "[lab14][lab14.4]") {
    for (const Trained& rank : trained_on(2)) {
        // 48 bytes for the weight and 12 for the bias, twice per epoch, then 4 for the
        // loss.
        std::vector<int64_t> expected;
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
            for (const int64_t bytes : {48, 12, 48, 12, 4}) expected.push_back(bytes);
        INFO("the all-reduces in the event log: " << concat(rank.all_reduces));
        CHECK(rank.all_reduces == expected);
    }
}

TEST_CASE("each rank gets an equal part of the data, in batches of its share",
          "[lab14][lab14.4]") {
    struct Part {
        int64_t batch_size = 0;
        std::vector<int64_t> sizes;    // of the batches
        std::vector<int64_t> classes;  // sorted
        std::vector<double> losses;
    };
    // Sample i has the class i.
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        std::vector<int64_t> classes(10);
        for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int64_t>(i);
        const auto samples = std::make_shared<data::TensorDataset>(Tensor::ones({10, 2}),
                                                                   Tensor::from(classes));
        auto [loader, batch_size] = tutorial::partition_dataset(samples, 8, group);
        Part part{batch_size, {}, {}, {}};
        for (const data::Batch& batch : loader) {
            part.sizes.push_back(batch.data.size(0));
            for (const int64_t c : batch.target.to_vector<int64_t>())
                part.classes.push_back(c);
        }
        std::ranges::sort(part.classes);
        nn::Linear model(2, 10);
        optim::SGD optimizer(model.parameters(), kSgd);
        part.losses.push_back(tutorial::train_epoch(model, loader, optimizer, group));
        return part;
    });
    const std::vector<std::vector<int64_t>> parts{{2, 3, 8}, {4, 5, 6}, {0, 1, 9}};
    for (size_t rank = 0; rank < 3; ++rank) {
        INFO("10 samples on 3 ranks, seed 1234: 2 8 3, 5 6 4 and 9 0 1; rank " << rank);
        CHECK(seen[rank].classes == parts[rank]);
        INFO("a whole batch of 8 samples is int(8 / 3) = 2 samples for each rank");
        CHECK(seen[rank].batch_size == 2);
        CHECK(seen[rank].sizes == std::vector<int64_t>{2, 1});
        CHECK(seen[rank].losses == seen[0].losses);
    }
}
