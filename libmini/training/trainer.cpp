#include "libmini/training/trainer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>

#include "libmini/autograd/functions.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/power_sgd.hpp"
#include "libmini/parallel/rungs.hpp"
#include "libmini/program/progress.hpp"
#include "libmini/training/accuracy.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/on_device.hpp"
#include "libmini/training/optimizers.hpp"
#include "libmini/training/rank_device.hpp"

namespace mini::training {

using data::Batch;

namespace {

constexpr size_t kStepLosses = 1000;

parallel::CommHook hook_of(Compression compression) {
    if (compression == Compression::kFP16) return parallel::fp16_compress_hook();
    if (compression == Compression::kBF16) return parallel::bf16_compress_hook();
    return parallel::power_sgd_hook(
        {.matrix_approximation_rank = 2, .start_iteration = 20});
}

std::unique_ptr<parallel::DistributedDataParallel> make_ddp(
    nn::Module& model, const Options& options,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    const auto cap = static_cast<int64_t>(options.bucket_cap_mb * 1048576.0);
    auto ddp = std::make_unique<parallel::DistributedDataParallel>(
        model, parallel::DDPOptions{
                   .first_bucket_bytes = std::min(parallel::kFirstBucketBytes, cap),
                   .bucket_cap_mb = options.bucket_cap_mb,
                   .process_group = group});
    if (options.compress != Compression::kNone)
        ddp->register_comm_hook(hook_of(options.compress));
    return ddp;
}

Replica replicate(nn::Module& model, const Options& options,
                  const std::shared_ptr<dist::ProcessGroup>& group) {
    if (options.graph) return {};
    switch (options.sync) {
        case Sync::kNone: return {};
        case Sync::kAverage:
            return {std::make_unique<parallel::AveragedModule>(model, group)};
        case Sync::kFlat: return {std::make_unique<parallel::FlatModule>(model, group)};
        case Sync::kOverlap:
            return {std::make_unique<parallel::OverlappedModule>(model, group)};
        case Sync::kDDP: break;
    }
    auto ddp = make_ddp(model, options, group);
    auto* const same = ddp.get();
    return {std::move(ddp), same};
}

// With --graph, the step of the single rank as a CUDA graph.
std::unique_ptr<CapturedStep> capture(nn::Module& model, optim::Optimizer& optimizer,
                                      const Options& options) {
    if (!options.graph) return nullptr;
    return std::make_unique<CapturedStep>(
        optimizer, [&model](const std::vector<Tensor>& batch) {
            return cross_entropy(model(batch[0]), batch[1]);
        });
}

std::vector<int64_t> bucket_sizes(const parallel::DistributedDataParallel* ddp) {
    std::vector<int64_t> sizes;
    if (ddp == nullptr) return sizes;
    for (const parallel::Bucket& bucket : ddp->buckets()) sizes.push_back(bucket.bytes());
    return sizes;
}

// The maximum number of epochs; with --steps alone, as many as the steps need.
int64_t epoch_count(const Options& options, int64_t steps_per_epoch) {
    if (options.epochs > 0) return options.epochs;
    if (options.steps == 0) return kDefaultEpochs;
    return (options.steps + steps_per_epoch - 1) / steps_per_epoch;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

}  // namespace

Trainer::Trainer(const Options& options, JobData data,
                 std::shared_ptr<dist::ProcessGroup> group, Device device)
    : options_(options),
      data_(std::move(data)),
      group_(std::move(group)),
      device_(device),
      batches_(options_, data_, group_->rank(), group_->world_size()),
      model_({.dropout = options.dropout}),
      replica_(replicate(model_.to(device), options, group_)),
      optimizer_(make_optimizer(options, model_.parameters(), group_)),
      captured_(capture(model_, optimizer(), options)),
      epochs_(epoch_count(options, batches_.size())),
      last_step_(options.steps > 0 ? options.steps : std::numeric_limits<int64_t>::max()),
      scheduler_(make_scheduler(options, optimizer(), epochs_)) {}

Results Trainer::run(const std::function<void(const Results&)>& report) {
    double seconds = 0.0;
    while (place_.position > 0 || !is_done()) {
        // Measure the time from the start of all ranks to the end of all ranks.
        group_->barrier();
        const auto start = std::chrono::steady_clock::now();
        train_epoch();
        group_->barrier();
        const std::chrono::duration<double> elapsed =
            std::chrono::steady_clock::now() - start;
        results_.seconds_per_epoch.push_back(elapsed.count());
        seconds += elapsed.count();

        results_.samples_per_second = static_cast<double>(samples_trained_) / seconds;
        close_epoch();
        report(results_);
    }
    results_.parameters_sha256 = parameter_digests(*group_, model_);
    results_.devices = devices_of_ranks(*group_, device_);
    results_.bucket_bytes = bucket_sizes(replica_.ddp);
    results_.statistics = training_statistics(group_->events().snapshot());
    return results_;
}

// Trains the rest of the epoch.
void Trainer::train_epoch() {
    // Draw the epoch's sample order. When resuming in the middle of an epoch, this draws
    // the same order again; then restore the generators of the checkpoint.
    epoch_generators_ = generator_states();
    auto batches = batches_.start(place_.epoch, place_.position);
    if (!resumed_generators_.empty()) set_generator_states(resumed_generators_);
    resumed_generators_.clear();

    const int64_t steps =
        std::min(last_step_ - place_.step, batches_.size() - place_.position);
    Progress progress(std::cerr, fmt::format("epoch {}/{}", place_.epoch + 1, epochs_),
                      place_.position + steps,
                      {.enabled = group_->rank() == 0, .terminal = stderr_is_terminal()});
    if (place_.position > 0) progress.advance(place_.position);
    for (int64_t i = 0; i < steps; ++i) {
        const std::optional<Batch> batch = batches.next();
        epoch_losses_.push_back(static_cast<float>(step(*batch)));
        ++place_.step;
        ++place_.position;
        samples_trained_ += batch->size() * group_->world_size();
        progress.advance(1, fmt::format("loss {:.3f}", epoch_losses_.back()));
        if (is_save_due()) save();
    }
}

// Ends the epoch: stores its results, sets the next learning rate, and may save.
void Trainer::close_epoch() {
    const bool is_whole = place_.position == batches_.size();
    gather_losses();
    results_.lr.push_back(optimizer().lr());
    results_.test_accuracy.push_back(accuracy());
    if (scheduler_) scheduler_->step();
    ++place_.epoch;
    place_.position = 0;
    epoch_losses_.clear();
    if (checkpoints_ && is_whole && (options_.every == 0 || is_done())) save();
}

// Runs one training step; returns this rank's loss.
double Trainer::step(const Batch& batch) {
    if (captured_) return (*captured_)({batch.data, batch.target}).item();

    optimizer().zero_grad();
    nn::Module& network =
        replica_.module ? *replica_.module : static_cast<nn::Module&>(model_);
    const Tensor loss =
        cross_entropy(network(batch.data.to(device_)), batch.target.to(device_));
    loss.backward();
    optimizer().step();
    return loss.item();
}

// The accuracy on the test images, over all ranks.
double Trainer::accuracy() {
    OnDevice model(model_, device_);
    auto loader = test_loader(data_, group_->rank(), group_->world_size());
    return count_correct(model, loader, *group_).share();
}

// Stores the mean over ranks of each step's loss, and the mean over the epoch's steps.
// One all-reduce per epoch.
void Trainer::gather_losses() {
    const Tensor all = Tensor::from(epoch_losses_);
    group_->all_reduce(all, dist::ReduceOp::kAvg);
    const auto mean = all.to_vector<float>();
    results_.train_loss.push_back(mean_of({mean.begin(), mean.end()}));
    for (const float loss : mean)
        if (results_.step_loss.size() < kStepLosses) results_.step_loss.push_back(loss);
}

}  // namespace mini::training
