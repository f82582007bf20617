#include "labs/14-gradient-averaging/distributed_sgd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "libmini/tensor/ops.hpp"

namespace tutorial {

using mini::Tensor, mini::data::DataLoader;
namespace dist = mini::dist;

namespace {

// The tutorial prints each rank's own loss, which is the loss on its part only.
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
    // [lab14.4] Cut the data and the batch into as many equal parts as there are ranks.
    const int size = group.world_size();
    const int64_t bsz = batch_size / size;
    const std::vector<double> partition_sizes(static_cast<size_t>(size), 1.0 / size);
    const mini::data::DataPartitioner partitioner(dataset, partition_sizes);
    const auto partition =
        std::make_shared<mini::data::Partition>(partitioner.use(group.rank()));
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = true}), bsz};
    // [lab14.4]
}

double train_epoch(mini::nn::Module& model, DataLoader& loader,
                   mini::optim::Optimizer& optimizer, dist::ProcessGroup& group) {
    double epoch_loss = 0.0;
    // [lab14.5] Train on each batch as on the whole batch of all ranks.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
    // [lab14.5]
    return mean_over_ranks(epoch_loss / static_cast<double>(loader.size()), group);
}

}  // namespace tutorial
