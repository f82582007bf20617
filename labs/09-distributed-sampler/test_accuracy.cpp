// The checks of lab 09's last task: an accuracy that is exact on any number of ranks.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "labs/check/ranks.hpp"
#include "labs/numbered.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/training/accuracy.hpp"
#include "tests/support/catch.hpp"

using mini::data::DistributedEvalSampler, mini::data::DistributedSampler;
using mini::labs::Numbered;

namespace {

// Predicts class i modulo 3 for sample i. The target of sample i is i, so the prediction
// is correct only for samples 0, 1 and 2.
class ModuloThree : public mini::nn::Module {
  public:
    mini::Tensor forward(const mini::Tensor& x) override {  // (N, 1)
        in_training |= is_training();
        recording |= mini::is_grad_enabled();
        std::vector<float> scores;
        for (const float value : x.to_vector<float>())
            for (int64_t k = 0; k < 3; ++k)
                scores.push_back(static_cast<int64_t>(value) % 3 == k ? 1.0f : 0.0f);
        return mini::Tensor::from(scores, {x.size(0), 3});
    }
    bool in_training = false, recording = false;  // in any call
};

// A model whose layer has a mode of its own, as in fine-tuning.
struct Wrapped : mini::nn::Module {
    Wrapped() { register_module("layer", layer); }
    mini::Tensor forward(const mini::Tensor& x) override { return layer(x); }
    ModuloThree layer;
};

struct Evaluation {
    mini::training::Accuracy accuracy;
    size_t collectives = 0;
    int64_t bytes_reduced = 0;
    int64_t batches = 0;
    bool in_training = false, recording = false, stays_in_training = false;
    bool operator==(const Evaluation&) const = default;
};

// Calls count_correct for n samples on `ranks` ranks; one result per rank.
template <typename SamplerType>
std::vector<Evaluation> evaluate(int64_t n, int ranks, int64_t batch_size = 2) {
    std::vector<Evaluation> results(static_cast<size_t>(ranks));
    mini::labs::run_ranks(ranks, [&](mini::dist::ProcessGroup& group) {
        auto& result = results[static_cast<size_t>(group.rank())];
        ModuloThree model;
        mini::data::DataLoader loader(
            std::make_shared<Numbered>(n),
            {.batch_size = batch_size, .sampler = std::make_shared<SamplerType>(n)});
        result.batches = loader.size();
        result.accuracy = mini::training::count_correct(model, loader, group);
        const auto begun = group.events().snapshot(mini::EventKind::kCollectiveBegin);
        result.collectives = begun.size();
        for (const mini::Event& event : begun) result.bytes_reduced += event.bytes;
        result.in_training = model.in_training;
        result.recording = model.recording;
        result.stays_in_training = model.is_training();
    });
    return results;
}

}  // namespace

TEST_CASE("the accuracy of all ranks together equals the accuracy on one rank",
          "[lab09][lab09.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(1, 3, 10, 23);
    // The model is correct on samples 0, 1 and 2 only.
    const mini::training::Accuracy expected = {.correct = std::min<int64_t>(n, 3),
                                               .seen = n};
    const auto results = evaluate<DistributedEvalSampler>(n, ranks);
    for (size_t rank = 0; rank < results.size(); ++rank) {
        INFO(n << " samples on " << ranks << " ranks, of which " << expected.correct
               << " are right; rank " << rank << " counted "
               << results[rank].accuracy.correct << " of "
               << results[rank].accuracy.seen);
        CHECK(results[rank].accuracy.correct == expected.correct);
        CHECK(results[rank].accuracy.seen == expected.seen);
    }
}

TEST_CASE("the model is in evaluation mode, records nothing, and goes back to training",
          "[lab09][lab09.5]") {
    INFO("nn::EvaluationGuard does this for its lifetime");
    const Evaluation result = evaluate<DistributedEvalSampler>(3, 1).front();
    CHECK(!result.in_training);
    CHECK(!result.recording);
    CHECK(result.stays_in_training);
}

TEST_CASE("a model in evaluation mode stays in it, and the loader is read once",
          "[lab09][lab09.5]") {
    mini::labs::run_ranks(1, [&](mini::dist::ProcessGroup& group) {
        const auto dataset = std::make_shared<Numbered>(10);
        mini::data::DataLoader loader(dataset, {.batch_size = 4});
        ModuloThree model;
        model.eval();
        mini::training::count_correct(model, loader, group);
        CHECK(!model.is_training());
        INFO("10 samples in batches of 4: the number of batches that were fetched");
        CHECK(dataset->batches_asked_for == 3);
    });
}

TEST_CASE("each layer is in evaluation mode, and then in the mode that it had",
          "[lab09][lab09.5]") {
    const bool was_training = GENERATE(true, false);
    mini::labs::run_ranks(1, [&](mini::dist::ProcessGroup& group) {
        Wrapped model;
        model.layer.set_training(was_training);
        mini::data::DataLoader loader(std::make_shared<Numbered>(3), {});
        mini::training::count_correct(model, loader, group);
        INFO("the model is in training mode, its layer in "
             << (was_training ? "training" : "evaluation") << " mode");
        CHECK(!model.layer.in_training);
        CHECK(model.is_training());
        CHECK(model.layer.is_training() == was_training);
    });
}

TEST_CASE("the counts are reduced as integers, in one call", "[lab09][lab09.5]") {
    const Evaluation result = evaluate<DistributedEvalSampler>(10, 2)[0];
    INFO("one all-reduce of two int64, 16 bytes a rank: a second one would wait for all");
    INFO("ranks again, and a float32 does not hold every number of samples");
    CHECK(result.bytes_reduced == 16);
    CHECK(result.collectives == 1);
}

TEST_CASE("a short last batch counts by its number of samples", "[lab09][lab09.5]") {
    INFO("5 samples on one rank, batches of 4 and 1: 3 right of 4, then 0 of 1, and");
    INFO("together 3 of 5; the mean of the batches' 0.75 and 0 would be 0.375, and a");
    INFO("last batch that counts as full would make it 3 of 8");
    const auto results = evaluate<DistributedEvalSampler>(5, 1, 4);
    CHECK(results[0].accuracy.correct == 3);
    CHECK(results[0].accuracy.seen == 5);
}

TEST_CASE("a rank with fewer batches does not block the other ranks",
          "[lab09][lab09.5]") {
    INFO("10 samples on 4 ranks, batches of 2: 2 2 1 1 batches; a collective in each");
    INFO("batch would wait for ranks that have finished");
    const auto results = evaluate<DistributedEvalSampler>(10, 4);
    for (size_t rank = 0; rank < results.size(); ++rank) {
        INFO("collectives of rank " << rank << ", with " << results[rank].batches
                                    << " batches, and of rank 0");
        CHECK(results[rank].collectives == results[0].collectives);
    }
    CHECK(results[0].batches == 2);
    CHECK(results[3].batches == 1);
}

TEST_CASE("padding counts samples twice and makes the accuracy wrong",
          "[lab09][lab09.5]") {
    INFO(
        "10 samples on 4 ranks with DistributedSampler: 12 places, 2 of them "
        "repetitions");
    const auto results = evaluate<DistributedSampler>(10, 4);
    INFO(
        "count_correct counts all samples that it gets: it must not divide or leave out");
    CHECK(results[0].accuracy.seen == 12);
    for (const Evaluation& result : results) {
        CHECK(result.accuracy.correct == results[0].accuracy.correct);
        CHECK(result.accuracy.seen == results[0].accuracy.seen);
    }
}
