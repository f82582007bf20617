// Accuracy on several ranks: exact with DistributedEvalSampler, wrong with the padding of
// DistributedSampler.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"

using namespace mini;

namespace {

constexpr int64_t kSamples = 10'000, kFeatures = 20, kClasses = 10;

struct Tally {
    int64_t right = 0, seen = 0;
    bool operator==(const Tally&) const = default;
};

// Returns the tally of a fixed, untrained classifier over the samples of `sampler`.
Tally count(const std::shared_ptr<const data::Dataset>& dataset,
            std::shared_ptr<data::Sampler> sampler) {
    manual_seed(0);
    nn::Linear model(kFeatures, kClasses);
    data::DataLoader loader(dataset, {.batch_size = 64, .sampler = std::move(sampler)});
    Tally counted;
    for (const data::Batch& batch : loader) {
        const auto logits = model(batch.data.to(default_device())).to_vector<float>();
        const auto target = batch.target.to_vector<int64_t>();
        for (size_t i = 0; i < target.size(); ++i) {
            const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i) * kClasses;
            const auto best = std::max_element(row, row + kClasses) - row;
            counted.right += best == target[i];
            ++counted.seen;
        }
    }
    return counted;
}

std::shared_ptr<const data::Dataset> random_samples() {
    Generator generator(7);
    std::vector<float> features(kSamples * kFeatures);
    fill_normal(features, 0, 1, generator);
    std::vector<int64_t> labels(kSamples);
    for (int64_t& label : labels) label = generator.randint(0, kClasses);
    return std::make_shared<data::TensorDataset>(
        Tensor::from(features, {kSamples, kFeatures}, Device::cpu()), cpu_tensor(labels));
}

// Returns the sum of all ranks' tallies; each rank calls `make` for its sampler.
Tally count_on_ranks(
    int world_size, const std::shared_ptr<const data::Dataset>& dataset,
    const std::function<std::shared_ptr<data::Sampler>(const data::Dataset&)>& make) {
    Tally total;
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        const Tally mine = count(dataset, make(*dataset));
        const auto all = dist::all_gather_values<int64_t>(group, {mine.right, mine.seen});
        if (group.rank() != 0) return;
        for (const auto& values : all) {
            total.right += values[0];
            total.seen += values[1];
        }
    });
    return total;
}

}  // namespace

TEST_CASE("the accuracy on several ranks is exactly the accuracy in one process") {
    const auto dataset = random_samples();
    const Tally alone =
        count(dataset, std::make_shared<data::SequentialSampler>(kSamples));
    REQUIRE(alone.seen == kSamples);
    for (const int ranks : {2, 3, 4, 7}) {
        CAPTURE(ranks);
        const Tally together =
            count_on_ranks(ranks, dataset, [](const data::Dataset& samples) {
                return std::make_shared<data::DistributedEvalSampler>(samples);
            });
        CHECK(together == alone);
    }
}

TEST_CASE("padding counts some samples twice and makes the accuracy wrong") {
    const auto dataset = random_samples();
    const Tally alone =
        count(dataset, std::make_shared<data::SequentialSampler>(kSamples));
    const Tally padded = count_on_ranks(3, dataset, [](const data::Dataset& samples) {
        return std::make_shared<data::DistributedSampler>(samples);
    });
    CHECK(padded.seen == kSamples + 2);
    const auto accuracy = [](const Tally& counted) {
        return static_cast<double>(counted.right) / static_cast<double>(counted.seen);
    };
    CHECK(accuracy(padded) != accuracy(alone));
}
