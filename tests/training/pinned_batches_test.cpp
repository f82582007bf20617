// Batches in pinned memory: the loader, the training job and its steps on a GPU do not
// wait for a batch's copy, and compute what they compute from batches in pageable memory.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libmini/data/loader.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/trainer.hpp"
#include "tests/parallel/devices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watched_stream.hpp"

using namespace mini;
using namespace mini::test;
using data::Batch;
using data::DataLoader;
using data::DataLoaderOptions;

namespace {

// Random images and their classes. After watch(), records for each batch whether the
// stream's first work has ended when the batch is fetched; batch number `last` ends it.
class WatchedImages : public data::TensorDataset {
  public:
    WatchedImages(int64_t count, int64_t seed)
        : TensorDataset(digits(count, seed).images, digits(count, seed).labels) {}

    Batch get_batch(std::span<const int64_t> indices) const override {
        if (watched_ != nullptr) {
            ended_.push_back(watched_->has_run());
            if (ended_.size() == last_) watched_->release();
        }
        return TensorDataset::get_batch(indices);
    }
    void watch(WatchedStream* stream, size_t last) {
        watched_ = stream;
        last_ = last;
    }
    const std::vector<bool>& ended() const { return ended_; }

  private:
    WatchedStream* watched_ = nullptr;
    size_t last_ = 0;
    mutable std::vector<bool> ended_;
};

bool is_pinned(const Batch& batch) {
    return batch.data.is_pinned() && batch.target.is_pinned();
}

// Adds a random number to the samples of a batch.
Batch noisy(const std::vector<data::Example>& examples) {
    Batch batch = data::collate(examples);
    const double noise = default_generator().randint(0, 1000);
    ops::add_(batch.data,
              Tensor::full(batch.data.shape(), noise, DType::kFloat32, Device::cpu()));
    return batch;
}

// Trains the ConvNet without the trainer, with blocking copies of pageable batches.
std::vector<float> train_plainly(const training::JobData& data, int64_t epochs,
                                 int64_t batch_size) {
    manual_seed(1234);
    nn::ConvNet model({.dropout = false});
    model.to(Device::cuda(0));
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    DataLoader loader(data.train, {.batch_size = batch_size});
    for (int64_t epoch = 0; epoch < epochs; ++epoch)
        for (const Batch& batch : loader)
            train_step(model, optimizer, {batch.data, batch.target}, Device::cuda(0));
    return flat_parameters(model);
}

// Trains the same by the trainer on one rank; `report` is called after each epoch.
std::vector<float> train_by_trainer(
    const training::JobData& data, training::Options options,
    const std::function<void()>& report = [] {}) {
    options.sync = "none";
    options.order = "file";
    options.dropout = false;
    std::vector<float> parameters;
    dist::run_threads(1, [&](dist::ProcessGroup&) {
        manual_seed(1234);
        training::Trainer trainer(options, data, dist::default_group(), Device::cuda(0));
        trainer.run([&](const training::Results&) { report(); });
        parameters = flat_parameters(trainer.model());
    });
    return parameters;
}

}  // namespace

TEST_CASE("a loader with pin_memory gives the same batches in pinned memory",
          "[cuda][cpu]") {
    const int workers = GENERATE(0, 1, 2);
    const int64_t batch_size = GENERATE(1, 4, 30);
    const bool collates = GENERATE(false, true);
    CAPTURE(workers, batch_size, collates);
    const auto images = std::make_shared<WatchedImages>(11, 1);
    const auto options = [&](bool pin_memory) {
        return DataLoaderOptions{.batch_size = batch_size,
                                 .shuffle = true,
                                 .num_workers = workers,
                                 .collate = collates ? noisy : data::Collate(),
                                 .pin_memory = pin_memory,
                                 .generator = std::make_shared<Generator>(5)};
    };
    for (const int64_t first : {0, 1}) {
        manual_seed(9);
        DataLoader pageable(images, options(false));
        auto expected = pageable.epoch(first);
        std::vector<Batch> batches;
        while (auto batch = expected.next()) batches.push_back(*batch);

        manual_seed(9);
        DataLoader loader(images, options(true));
        auto epoch = loader.epoch(first);
        for (const Batch& batch : batches) {
            const std::optional<Batch> got = epoch.next();
            REQUIRE(got.has_value());
            CHECK_FALSE(is_pinned(batch));
            CHECK(is_pinned(*got));
            CHECK(got->data.shape() == batch.data.shape());
            CHECK(ops::equal(got->data, batch.data));
            CHECK(ops::equal(got->target, batch.target));
        }
        CHECK_FALSE(epoch.next());
    }
}

TEST_CASE("a batch that cannot be pinned is named in the error", "[cuda][cpu]") {
    const int workers = GENERATE(0, 1);
    const auto gpu = std::make_shared<data::TensorDataset>(
        Tensor::ones({3, 2}, DType::kFloat32, Device::cuda(0)),
        Tensor::ones({3}, DType::kInt64, Device::cuda(0)));
    DataLoader loader(gpu, {.batch_size = 2, .num_workers = workers, .pin_memory = true});
    auto epoch = loader.epoch(1);
    CHECK(message_of([&] { epoch.next(); }) ==
          "DataLoader: batch 1: pin_memory: the tensor is on cuda:0; only CPU memory can "
          "be pinned");
}

TEST_CASE("a job pins the batches of a rank that trains on a GPU, and no others",
          "[cuda][cpu]") {
    const training::JobData data{std::make_shared<WatchedImages>(12, 1),
                                 std::make_shared<WatchedImages>(4, 2)};
    training::Options options;
    options.batch_size = 4;
    options.order = GENERATE("sampler", "file");
    options.partition = GENERATE("sampler", "tutorial");
    const int workers = GENERATE(0, 1);
    options.workers = workers;
    for (const Device device : {Device::cpu(), Device::cuda(0)}) {
        auto loader = training::training_loader(options, data, 1, 2, device);
        auto epoch = loader.epoch();
        while (const auto batch = epoch.next())
            CHECK(is_pinned(*batch) == device.is_cuda());
    }
}

TEST_CASE("a job on a GPU ends with the parameters of plain steps with blocking copies",
          "[cuda][cpu]") {
    // The last batch of each epoch has one image.
    const training::JobData data{std::make_shared<WatchedImages>(5, 1),
                                 std::make_shared<WatchedImages>(1, 2)};
    training::Options options;
    options.epochs = 2;
    options.batch_size = 2;
    const std::vector<float> expected =
        train_plainly(data, options.epochs, options.batch_size);
    for (const int workers : {0, 1, 2}) {
        options.workers = workers;
        CAPTURE(workers);
        CHECK(train_by_trainer(data, options) == expected);
    }
}

TEST_CASE("the steps of a job on a GPU do not wait for the copies of their batches",
          "[cuda][cpu]") {
    const auto images = std::make_shared<WatchedImages>(6, 1);
    const training::JobData data{images, std::make_shared<WatchedImages>(1, 2)};
    training::Options options;
    options.epochs = 2;
    options.batch_size = 2;
    options.workers = 0;  // the training thread fetches each batch before its step

    // The second epoch runs on a stream that is held until its last batch is fetched.
    std::optional<WatchedStream> stream;
    std::optional<cuda::StreamGuard> guard;
    train_by_trainer(data, options, [&] {
        if (guard) return guard.reset();
        stream.emplace(0, kHeld);
        guard.emplace(0, stream->get());
        images->watch(&*stream, 3);
    });
    CHECK(images->ended() == std::vector<bool>(3, false));
    CHECK(stream->has_run());
}
