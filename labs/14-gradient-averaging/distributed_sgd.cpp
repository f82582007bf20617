#include "labs/14-gradient-averaging/distributed_sgd.hpp"

#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "libmini/tensor/ops.hpp"

// [lab14 file]
namespace tutorial {

using mini::Tensor, mini::data::DataLoader;
namespace dist = mini::dist;

namespace {

// Returns the mean of `value` over all ranks. The tutorial prints each rank's own loss
// instead, which is the loss on that rank's part of the data.
double mean_over_ranks(double value, dist::ProcessGroup& group) {
    const Tensor mean = Tensor::scalar(static_cast<float>(value));
    group.all_reduce(mean, dist::ReduceOp::kAvg);
    return mean.item();
}

}  // namespace

void start_alike(const mini::nn::Module& model, dist::ProcessGroup& group) {
    // [lab14.3] Send rank 0's parameters and buffers to all.
    for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
    // [lab14.3]
}

mini::data::PartitionedDataset partition_dataset(
    const std::shared_ptr<const mini::data::Dataset>& dataset, int64_t batch_size,
    const dist::ProcessGroup& group) {
    return mini::data::partition_dataset(dataset, {.world_size = group.world_size(),
                                                   .rank = group.rank(),
                                                   .batch_size = batch_size});
}

double train_epoch(mini::nn::Module& model, DataLoader& loader,
                   mini::optim::Optimizer& optimizer, dist::ProcessGroup& group) {
    double epoch_loss = 0.0;
    // [lab14.4] Train on each batch as on the whole batch of all ranks.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
    // [lab14.4]
    return mean_over_ranks(epoch_loss / static_cast<double>(loader.size()), group);
}

double train_epoch_locally(mini::nn::Module& model, DataLoader& loader,
                           mini::optim::Optimizer& optimizer, dist::ProcessGroup& group,
                           int64_t period) {
    if (period < 1)
        throw mini::UsageError(mini::concat("train_epoch_locally: the period is ", period,
                                            " steps; it must be at least 1"));
    double epoch_loss = 0.0;
    // [lab14.6] Train alone, and average the parameters after each period.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
    // [lab14.6]
    return mean_over_ranks(epoch_loss / static_cast<double>(loader.size()), group);
}

}  // namespace tutorial
// [lab14 file]
