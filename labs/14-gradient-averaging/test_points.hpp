// 24 points and a layer that learns their classes, for the checks of tasks 14.4 to 14.6.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "labs/14-gradient-averaging/test_support.hpp"
#include "libmini/data/distributed_sampler.hpp"

namespace mini::lab14 {

constexpr int64_t kSamples = 24, kWholeBatch = 12, kEpochs = 3;
inline const optim::SGDOptions kSgd{.lr = 0.5, .momentum = 0.5};

// 24 points and their classes, always the same.
struct Points {
    Points() {
        Generator generator(5);
        fill_uniform(x.span<float>(), -1.0, 1.0, generator);
        std::vector<int64_t> classes;
        for (int64_t i = 0; i < kSamples; ++i) classes.push_back(i % 3);
        y = Tensor::from(classes);
    }
    Tensor x = Tensor::empty({kSamples, 4});
    Tensor y;
};

// Divides the samples in order: the ranks' k-th batches together are the k-th whole batch.
inline data::DataLoader slices(int rank, int ranks, int64_t whole_batch = kWholeBatch) {
    const Points points;
    return data::DataLoader(
        std::make_shared<data::TensorDataset>(points.x, points.y),
        {.batch_size = whole_batch / ranks,
         .sampler = std::make_shared<data::DistributedSampler>(
             kSamples, data::DistributedSamplerOptions{.num_replicas = ranks,
                                                       .rank = rank,
                                                       .shuffle = false,
                                                       .drop_last = true})});
}

struct Trained {
    Values parameters;
    Values gradients;  // of the last step
    std::vector<double> losses;
    std::vector<int64_t> all_reduces;
};

// Trains with one process on whole batches, without any averaging.
inline Trained trained_alone() {
    manual_seed(3);
    nn::Linear model(4, 3);
    optim::SGD optimizer(model.parameters(), kSgd);
    auto loader = slices(0, 1);
    Trained trained;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        double sum = 0;
        for (const data::Batch& batch : loader) {
            optimizer.zero_grad();
            const Tensor loss = cross_entropy(model(batch.data), batch.target);
            loss.backward();
            optimizer.step();
            sum += loss.item();
        }
        trained.losses.push_back(sum / static_cast<double>(loader.size()));
    }
    trained.parameters = values_of(model.parameters());
    return trained;
}

inline float largest_difference(const Values& a, const Values& b) {
    REQUIRE(a.size() == b.size());
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const float difference = std::abs(a[i] - b[i]);
        if (!(difference <= largest)) largest = difference;  // even if it is NaN
    }
    return largest;
}

}  // namespace mini::lab14
