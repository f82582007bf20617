// The checks of lab 14, tasks 14.4 to 14.6: data, training, and averaged models.

#include "labs/14-gradient-averaging/test_support.hpp"

#include <cstdint>
#include <memory>
#include <vector>

using namespace mini;
using namespace mini::lab14;

// ---- 14.4

namespace {

using Samples = std::vector<int64_t>;

// Sample i is the number i.
std::shared_ptr<data::TensorDataset> numbers(int64_t n) {
    Values values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0.0f);
    return std::make_shared<data::TensorDataset>(Tensor::from(values, {n, 1}),
                                                 Tensor::from(Samples(values.size())));
}

Samples read(data::DataLoader& loader, std::vector<int64_t>& batch_sizes) {
    Samples samples;
    for (const data::Batch& batch : loader) {
        batch_sizes.push_back(batch.size());
        for (const float value : batch.data.to_vector<float>())
            samples.push_back(static_cast<int64_t>(value));
    }
    return samples;
}

struct Part {
    int64_t bsz = 0;
    Samples first, second;  // the samples of two epochs
    std::vector<int64_t> batch_sizes;
};

std::vector<Part> parts(int ranks, int64_t samples, int64_t batch_size) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(1);
        auto [train_set, bsz] =
            tutorial::partition_dataset(numbers(samples), batch_size, group);
        Part part{.bsz = bsz, .first = {}, .second = {}, .batch_sizes = {}};
        part.first = read(train_set, part.batch_sizes);
        std::vector<int64_t> ignored;
        part.second = read(train_set, ignored);
        return part;
    });
}

Samples sorted(Samples samples) {
    std::ranges::sort(samples);
    return samples;
}

}  // namespace

TEST_CASE("ten samples on three ranks are divided as by the tutorial's partitioner",
          "[lab14][lab14.4]") {
    // random.Random(1234).shuffle: 2 8 3 | 5 6 4 | 9 0 1 | 7, and no rank gets 7.
    const std::vector<Samples> expected{{2, 3, 8}, {4, 5, 6}, {0, 1, 9}};
    const auto seen = parts(3, 10, 6);
    for (size_t rank = 0; rank < 3; ++rank) {
        INFO("rank " << rank << " of 3 should get " << concat(expected[rank])
                     << " in some order, and got " << concat(seen[rank].first)
                     << "; hint 2 of 14.4 helps");
        CHECK(sorted(seen[rank].first) == expected[rank]);
    }
}

TEST_CASE("no sample is on two ranks and all ranks have the same number",
          "[lab14][lab14.4]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t samples = GENERATE(7, 60);
    std::set<int64_t> all;
    for (const Part& part : parts(ranks, samples, 14)) {
        INFO(ranks << " ranks share " << samples << " samples; one of them got "
                   << concat(part.first));
        const auto fraction = 1.0 / ranks * static_cast<double>(samples);
        CHECK(static_cast<int64_t>(part.first.size()) == static_cast<int64_t>(fraction));
        for (const int64_t sample : part.first) {
            INFO("sample " << sample << " is also on another rank");
            CHECK(all.insert(sample).second);
        }
    }
}

TEST_CASE("a rank's batch is its share of the whole batch rounded down",
          "[lab14][lab14.4]") {
    for (const Part& part : parts(3, 60, 20)) {
        INFO("20 samples per step on 3 ranks: 6 each; hint 1 of 14.4 helps");
        CHECK(part.bsz == 6);
        CHECK(part.batch_sizes == std::vector<int64_t>{6, 6, 6, 2});
    }
}

TEST_CASE("a rank shuffles its part again in each epoch", "[lab14][lab14.4]") {
    for (const Part& part : parts(2, 60, 20)) {
        INFO("the first epoch began with " << part.first[0] << ' ' << part.first[1] << ' '
                                           << part.first[2]);
        CHECK(part.first != part.second);
        CHECK(sorted(part.first) == sorted(part.second));
    }
}

// ---- 14.5

namespace {

constexpr int64_t kSamples = 24, kWholeBatch = 12, kEpochs = 3;
const optim::SGDOptions kSgd{.lr = 0.5, .momentum = 0.5};

// 24 points and their classes, always the same.
struct Points {
    Points() {
        Generator generator(5);
        fill_uniform(x.span<float>(), -1.0, 1.0, generator);
        Samples classes;
        for (int64_t i = 0; i < kSamples; ++i) classes.push_back(i % 3);
        y = Tensor::from(classes);
    }
    Tensor x = Tensor::empty({kSamples, 4});
    Tensor y;
};

// Deals the samples in order, so that the ranks' k-th batches together are the k-th whole
// batch.
class Slices : public data::Sampler {
  public:
    Slices(int rank, int ranks) {
        const int64_t share = kWholeBatch / ranks;
        for (int64_t start = 0; start < kSamples; start += kWholeBatch)
            for (int64_t i = 0; i < share; ++i)
                indices_.push_back(start + rank * share + i);
    }
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

data::DataLoader slices(int rank, int ranks) {
    const Points points;
    return data::DataLoader(std::make_shared<data::TensorDataset>(points.x, points.y),
                            {.batch_size = kWholeBatch / ranks,
                             .sampler = std::make_shared<Slices>(rank, ranks)});
}

struct Trained {
    Values parameters;
    std::vector<double> losses;
    std::vector<int64_t> all_reduces;
};

// Ordinary training: one process, the whole batch.
Trained trained_alone() {
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

std::vector<Trained> trained_on(int ranks) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        nn::Linear model(4, 3);
        optim::SGD optimizer(model.parameters(), kSgd);
        auto loader = slices(group.rank(), ranks);
        Trained trained;
        for (int64_t epoch = 0; epoch < kEpochs; ++epoch)
            trained.losses.push_back(
                tutorial::train_epoch(model, loader, optimizer, group));
        trained.parameters = values_of(model.parameters());
        trained.all_reduces = all_reduces(group);
        return trained;
    });
}

float largest_difference(const Values& a, const Values& b) {
    REQUIRE(a.size() == b.size());
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

}  // namespace

TEST_CASE("several ranks train like one rank on the whole batch", "[lab14][lab14.5]") {
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
               "the averaged gradient of its own batch? hint 1 of 14.5 helps");
        CHECK(difference < 1e-5f);
        INFO("all replicas must be bitwise identical");
        CHECK(rank.parameters == seen[0].parameters);
    }
}

TEST_CASE("the loss of an epoch is the mean over its batches and all ranks",
          "[lab14][lab14.5]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const Trained alone = trained_alone();
    for (const Trained& rank : trained_on(ranks))
        for (size_t epoch = 0; epoch < alone.losses.size(); ++epoch) {
            INFO("epoch " << epoch << " on " << ranks << " ranks: hint 2 of 14.5 helps");
            CHECK(std::abs(rank.losses[epoch] - alone.losses[epoch]) < 1e-5);
        }
}

TEST_CASE("every step averages each gradient exactly once", "[lab14][lab14.5]") {
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

// ---- 14.6

TEST_CASE("average_parameters leaves the mean model and rank 0's counters on all ranks",
          "[lab14][lab14.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Counted model(group.rank());
        for (Tensor parameter : model.parameters())
            ops::fill_(parameter, static_cast<float>(group.rank() + 1));
        parallel::average_parameters(model, group);
        return state_of(model);
    });
    const auto mean = static_cast<float>(ranks + 1) / 2;
    for (const State& rank : seen) {
        INFO("ranks 0 .. " << ranks - 1 << " hold 1 .. " << ranks
                           << " in all parameters; the mean is " << mean
                           << "; hint 1 of 14.6 helps");
        for (const float parameter : rank.parameters) REQUIRE(near(parameter, mean));
        CHECK(rank.parameters == seen[0].parameters);
        INFO("a running mean is averaged too, a count of batches is rank 0's");
        for (const float value : rank.mean) CHECK(near(value, mean));
        CHECK(rank.count == 10);
    }
}

TEST_CASE("averaging once at the end differs from training on the whole batch",
          "[lab14][lab14.6]") {
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
