#include "libmini/training/trainer.hpp"

#include <fmt/format.h>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/program/progress.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/accuracy.hpp"
#include "libmini/training/checkpoint.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/rank_device.hpp"

namespace mini::training {

using data::Batch;

namespace {

constexpr size_t kStepLosses = 1000;
constexpr size_t kStepsPerRead = 10;  // losses on a GPU are read once in so many steps

std::vector<int64_t> bucket_sizes(const parallel::DistributedDataParallel* ddp) {
    std::vector<int64_t> sizes;
    if (ddp == nullptr) return sizes;
    for (const parallel::Bucket& bucket : ddp->buckets()) sizes.push_back(bucket.bytes());
    return sizes;
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
      loader_(
          training_loader(options_, data_, group_->rank(), group_->world_size(), device)),
      length_(run_length(options, loader_.size())),
      model_({.dropout = options.dropout}),
      replica_(replicate(model_.to(device), options, group_)),
      ddp_(dynamic_cast<parallel::DistributedDataParallel*>(replica_.get())),
      optimizer_(make_optimizer(options, model_, group_)),
      scheduler_(make_scheduler(options, *optimizer_, length_.epochs)),
      checkpoints_(options_, recipe_of(options_, data_.train->size(), length_.epochs),
                   length_, {model_, *optimizer_, scheduler_.get(), ddp_}, group_) {}

Results Trainer::run(const std::function<void(const Results&)>& report) {
    double seconds = 0.0;
    Results& results = progress_.results;
    check_output();
    observer_ = observe_run(options_.logdir,
                            {.program = "train_mnist",
                             .options = options_.values,
                             .resumed_at_step = results.resumed_at_step},
                            model_, group_);
    while (position().step_in_epoch > 0 || !length_.is_done(position())) {
        // Measure the time from the start of all ranks to the end of all ranks.
        group_->barrier();
        const auto start = std::chrono::steady_clock::now();
        train_epoch();
        group_->barrier();
        const std::chrono::duration<double> elapsed =
            std::chrono::steady_clock::now() - start;
        results.seconds_per_epoch.push_back(elapsed.count());
        seconds += elapsed.count();

        results.samples_per_second = static_cast<double>(samples_trained_) / seconds;
        close_epoch();
        report(results);
    }
    results.parameters_sha256 = parameter_digests(*group_, model_);
    results.devices = devices_of_ranks(*group_, device_);
    results.bucket_bytes = bucket_sizes(ddp_);
    results.statistics = training_statistics(group_->events().snapshot());
    return results;
}

// Checks, with --save, that the disk has space for the model.
void Trainer::check_output() {
    if (options_.save.empty()) return;
    on_all_ranks(*group_, [&] {
        if (group_->rank() == 0) check_space(options_.save, model_.state_dict());
    });
}

std::optional<Batch> Trainer::next_batch(data::DataLoader::Epoch& batches) {
    const EventSpan span(spans(), "data");
    return batches.next();
}

// Starts the epoch, with the loader's draws. After a resume in the middle of an epoch, they
// are those of its start; then restores the generators of the checkpoint.
data::DataLoader::Epoch Trainer::start_epoch() {
    const RunPosition& position = progress_.position;
    progress_.epoch_generators = default_generator().get_state();
    loader_.set_epoch(position.epoch);
    auto batches = loader_.epoch(position.step_in_epoch);
    if (!progress_.resumed_generators.empty())
        default_generator().set_state(progress_.resumed_generators);
    progress_.resumed_generators.clear();
    return batches;
}

// Trains the rest of the epoch.
void Trainer::train_epoch() {
    const RunPosition& position = progress_.position;
    const std::vector<float>& losses = progress_.epoch_losses;
    auto batches = start_epoch();
    const int64_t end = position.step_in_epoch + length_.steps_left_in_epoch(position);
    Progress bar(std::cerr,
                 fmt::format("epoch {}/{}", position.epoch + 1, length_.epochs), end,
                 {.enabled = group_->rank() == 0,
                  .terminal = stderr_is_terminal(),
                  .initial = position.step_in_epoch});
    while (position.step_in_epoch < end) {
        train_batch(batches);
        const bool saves = checkpoints_.is_due_after_step(position);
        if (saves || position.step_in_epoch == end) read_losses();
        bar.advance(1, [&] {
            return losses.empty() ? "" : fmt::format("loss {:.3f}", losses.back());
        });
        if (saves) checkpoints_.save(progress_);
    }
}

// Trains on the epoch's next batch.
void Trainer::train_batch(data::DataLoader::Epoch& batches) {
    RunPosition& position = progress_.position;
    std::optional<Batch> batch;
    {
        const EventSpan span(spans(), "step", position.step);
        batch = next_batch(batches);
        unread_losses_.push_back(step(*batch).detach());
    }
    if (device_.is_cpu() || observer_ || unread_losses_.size() == kStepsPerRead)
        read_losses();
    if (observer_)
        observer_->add_step({.epoch = position.epoch,
                             .step = position.step,
                             .loss = progress_.epoch_losses.back()});
    ++position.step;
    ++position.step_in_epoch;
    samples_trained_ += batch->size() * group_->world_size();
}

// Reads the losses that are still on the GPU. To read each one after its step would make
// the host wait until the GPU has finished the step, and the GPU then wait until the host
// has launched the next step.
void Trainer::read_losses() {
    for (const Tensor& loss : unread_losses_)
        progress_.epoch_losses.push_back(static_cast<float>(loss.item()));
    unread_losses_.clear();
}

// Ends the epoch: stores its results, sets the next learning rate, and saves a checkpoint
// if one is due.
void Trainer::close_epoch() {
    RunPosition& position = progress_.position;
    const bool is_whole = position.step_in_epoch == length_.steps_per_epoch;
    gather_losses();
    progress_.results.lr.push_back(optimizer_->lr());
    progress_.results.test_accuracy.push_back(accuracy());
    if (observer_)
        observer_->add_epoch({.epoch = position.epoch,
                              .steps = position.step,
                              .train_loss = progress_.results.train_loss.back(),
                              .test_accuracy = progress_.results.test_accuracy.back(),
                              .lr = optimizer_->lr(),
                              .seconds = progress_.results.seconds_per_epoch.back()});
    if (scheduler_) scheduler_->step();
    ++position.epoch;
    position.step_in_epoch = 0;
    progress_.epoch_losses.clear();
    if (is_whole && checkpoints_.is_due_after_epoch(position))
        checkpoints_.save(progress_);
}

// Runs one training step, and returns this rank's loss.
Tensor Trainer::step(const Batch& batch) {
    optimizer_->zero_grad();
    nn::Module& network = replica_ ? *replica_ : static_cast<nn::Module&>(model_);
    Tensor loss = [&] {
        const EventSpan span(spans(), "forward");
        const Tensor target = batch.target.to(device_, /*non_blocking=*/true);
        return cross_entropy(network(batch.data.to(device_, /*non_blocking=*/true)),
                             target);
    }();
    {
        const EventSpan span(spans(), "backward");
        loss.backward();
    }
    const EventSpan span(spans(), "optimizer");
    optimizer_->step();
    return loss;
}

// Returns the accuracy on the test images, over all ranks.
double Trainer::accuracy() {
    OnDevice model(model_, device_);
    auto loader = test_loader(data_, group_->rank(), group_->world_size());
    return count_correct(model, loader, *group_).share();
}

// Stores the loss of each step, averaged over the ranks, and the mean of these losses
// over the epoch. Cost: one all-reduce per epoch.
void Trainer::gather_losses() {
    const Tensor all = Tensor::from(progress_.epoch_losses);
    group_->all_reduce(all, dist::ReduceOp::kAvg);
    const auto mean = all.to_vector<float>();
    Results& results = progress_.results;
    results.train_loss.push_back(mean_of({mean.begin(), mean.end()}));
    for (const float loss : mean)
        if (results.step_loss.size() < kStepLosses) results.step_loss.push_back(loss);
}

}  // namespace mini::training
