#include "trainer.hpp"

#include <fmt/format.h>
#include <chrono>
#include <iostream>
#include <limits>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/progress.hpp"
#include "libmini/dist/gather.hpp"
#include "libmini/io/sha256.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/parallel/overlap.hpp"
#include "libmini/tensor/ops.hpp"

namespace train_mnist {

using mini::Tensor;
using mini::data::Batch;

namespace {

constexpr size_t kStepLosses = 1000;

std::unique_ptr<mini::parallel::DistributedDataParallel> make_ddp(
    mini::nn::Module& model, const Options& options,
    const std::shared_ptr<mini::dist::ProcessGroup>& group) {
    if (options.sync != "ddp") return nullptr;
    const auto cap = static_cast<int64_t>(options.bucket_cap_mb * 1048576.0);
    return std::make_unique<mini::parallel::DistributedDataParallel>(
        model, mini::parallel::DDPOptions{
                   .first_bucket_bytes = std::min(mini::parallel::kFirstBucketBytes, cap),
                   .bucket_cap_bytes = cap,
                   .process_group = group});
}

// How many epochs the job has at most; with --steps alone, as many as it takes.
int64_t epoch_count(const Options& options, int64_t steps_per_epoch) {
    if (options.epochs > 0) return options.epochs;
    if (options.steps == 0) return kDefaultEpochs;
    return (options.steps + steps_per_epoch - 1) / steps_per_epoch;
}

int64_t step_count(const Options& options, int64_t epochs, int64_t steps_per_epoch) {
    const int64_t all = epochs * steps_per_epoch;
    return options.steps > 0 ? std::min(options.steps, all) : all;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

}  // namespace

Trainer::Trainer(const Options& options, JobData data,
                 std::shared_ptr<mini::dist::ProcessGroup> group)
    : options_(options),
      data_(std::move(data)),
      group_(std::move(group)),
      batches_(options_, data_, group_->rank(), group_->world_size()),
      model_({.dropout = options.dropout}),
      ddp_(make_ddp(model_, options, group_)),
      optimizer_(model_.parameters(), {.lr = options.lr, .momentum = options.momentum}),
      epochs_(epoch_count(options, batches_.size())),
      steps_left_(step_count(options, epochs_, batches_.size())) {}

Results Trainer::run(const std::function<void(const Results&)>& report) {
    double seconds = 0.0;
    for (int64_t epoch = 0; steps_left_ > 0; ++epoch) {
        // Time the training from the moment all ranks begin to the moment all have ended.
        group_->barrier();
        const auto start = std::chrono::steady_clock::now();
        train_epoch(epoch);
        group_->barrier();
        const std::chrono::duration<double> elapsed =
            std::chrono::steady_clock::now() - start;
        results_.seconds_per_epoch.push_back(elapsed.count());
        seconds += elapsed.count();

        results_.samples_per_second = static_cast<double>(samples_trained_) / seconds;
        results_.test_accuracy.push_back(evaluate());
        report(results_);
    }
    results_.parameters_sha256 = parameter_digests();
    if (ddp_) {
        for (const auto& bucket : ddp_->buckets())
            results_.bucket_bytes.push_back(bucket.bytes());
        results_.hidden_communication =
            mini::parallel::hidden_communication(group_->events().snapshot());
    }
    return results_;
}

void Trainer::train_epoch(int64_t epoch) {
    const int64_t steps = std::min(steps_left_, batches_.size());
    mini::Progress progress(
        std::cerr, fmt::format("epoch {}/{}", epoch + 1, epochs_), steps,
        {.enabled = group_->rank() == 0, .terminal = mini::stderr_is_terminal()});
    std::vector<double> losses;
    auto batches = batches_.start(epoch);
    for (int64_t i = 0; i < steps; ++i) {
        const std::optional<Batch> batch = batches.next();
        losses.push_back(step(*batch));
        samples_trained_ += batch->size() * group_->world_size();
        progress.advance(1, fmt::format("loss {:.3f}", losses.back()));
    }
    steps_left_ -= steps;
    gather_losses(std::move(losses));
}

// One step of the job; returns this rank's loss.
double Trainer::step(const Batch& batch) {
    optimizer_.zero_grad();
    mini::nn::Module& network = ddp_ ? static_cast<mini::nn::Module&>(*ddp_) : model_;
    const Tensor loss = mini::cross_entropy(network(batch.data), batch.target);
    loss.backward();
    if (options_.sync == "average")
        mini::parallel::average_gradients(model_.parameters(), *group_);
    optimizer_.step();
    return loss.item();
}

// The share of test images that all ranks together get right.
double Trainer::evaluate() {
    const mini::NoGradGuard no_grad;
    model_.eval();
    int64_t correct = 0;
    auto loader = test_loader(data_, group_->rank(), group_->world_size());
    auto batches = loader.epoch();
    while (const std::optional<Batch> batch = batches.next()) {
        const auto predicted =
            mini::ops::argmax(model_(batch->data)).to_vector<int64_t>();
        const auto target = batch->target.to_vector<int64_t>();
        for (size_t i = 0; i < target.size(); ++i) correct += predicted[i] == target[i];
    }
    model_.train();

    const Tensor total = Tensor::from(std::vector<int64_t>{correct});
    group_->all_reduce(total);
    return total.item() / static_cast<double>(data_.test->size());
}

// Notes the mean over ranks of each step's loss, and the mean of those. One all-reduce an epoch.
void Trainer::gather_losses(std::vector<double> losses) {
    const Tensor all = Tensor::from(std::vector<float>(losses.begin(), losses.end()));
    group_->all_reduce(all, mini::dist::ReduceOp::kAvg);
    const auto mean = all.to_vector<float>();
    results_.train_loss.push_back(mean_of({mean.begin(), mean.end()}));
    for (const float loss : mean)
        if (results_.step_loss.size() < kStepLosses) results_.step_loss.push_back(loss);
}

// The SHA-256 of the parameters' bytes, in their order, on each rank.
std::vector<std::string> Trainer::parameter_digests() const {
    mini::io::Sha256 sha256;
    for (const Tensor& parameter : model_.parameters())
        sha256.update({parameter.raw_data(), parameter.bytes()});
    const std::string hex = sha256.finish_hex();

    std::vector<std::string> digests;
    const std::vector<uint8_t> mine(hex.begin(), hex.end());
    for (const auto& digest : mini::dist::all_gather_values(*group_, mine))
        digests.emplace_back(digest.begin(), digest.end());
    return digests;
}

}  // namespace train_mnist
