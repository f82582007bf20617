#include "job.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/distributed/group/gather.hpp"

namespace train_mnist {

using mini::data::DataLoader;

namespace {

mini::data::DataLoaderOptions loader_options(const Options& options, int64_t batch_size) {
    return {.batch_size = batch_size, .num_workers = options.workers};
}

}  // namespace

FileOrderSampler::FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank,
                                   int world_size) {
    for (int64_t start = 0; start < dataset_size; start += batch_size) {
        const int64_t share = std::min(batch_size, dataset_size - start) / world_size;
        for (int64_t i = 0; i < share; ++i) indices_.push_back(start + rank * share + i);
    }
}

JobData load_data(const mini::data::DataChoice& choice) {
    return {choice.description, mini::data::load_data(choice, /*train=*/true),
            mini::data::load_data(choice, /*train=*/false)};
}

TrainingBatches::TrainingBatches(const Options& options, const JobData& data, int rank,
                                 int world_size) {
    const int64_t batch_size = options.batch_size / world_size;
    auto settings = loader_options(options, batch_size);
    if (options.order == "file") {
        // Nothing is drawn for this order: what the model draws stays as it is.
        settings.generator = std::make_shared<mini::Generator>();
        settings.sampler = std::make_shared<FileOrderSampler>(
            data.train->size(), options.batch_size, rank, world_size);
        loader_ = std::make_unique<DataLoader>(data.train, settings);
    } else if (options.partition == "tutorial") {
        const std::vector<double> sizes(static_cast<size_t>(world_size),
                                        1.0 / world_size);
        const mini::data::DataPartitioner partitioner(data.train, sizes);
        settings.shuffle = true;
        loader_ = std::make_unique<DataLoader>(
            std::make_shared<mini::data::Partition>(partitioner.use(rank)), settings);
    } else {
        distributed_ = std::make_shared<mini::data::DistributedSampler>(
            data.train->size(),
            mini::data::DistributedSamplerOptions{
                .num_replicas = world_size, .rank = rank, .seed = options.seed});
        settings.sampler = distributed_;
        loader_ = std::make_unique<DataLoader>(data.train, settings);
    }
}

DataLoader::Epoch TrainingBatches::start(int64_t epoch, int64_t first) {
    if (distributed_) distributed_->set_epoch(epoch);
    return loader_->epoch(first);
}

DataLoader test_loader(const JobData& data, int rank, int world_size) {
    return {data.test,
            {.batch_size = 1000,
             .sampler = std::make_shared<mini::data::DistributedEvalSampler>(
                 data.test->size(), mini::data::DistributedEvalSamplerOptions{
                                        .num_replicas = world_size, .rank = rank})}};
}

void on_all_ranks(mini::dist::ProcessGroup& group, const std::function<void()>& body) {
    constexpr size_t kLongest = 1000;
    std::string failure;
    try {
        body();
    } catch (const std::exception& error) {
        failure = std::string(error.what()).substr(0, kLongest);
    }

    // Tell all ranks what happened on each.
    std::vector<uint8_t> mine(kLongest);
    std::ranges::copy(failure, mine.begin());
    const auto texts = mini::dist::all_gather_values(group, mine);
    for (size_t rank = 0; rank < texts.size(); ++rank) {
        const auto& text = texts[rank];
        if (text.front() == 0) continue;
        const std::string message(text.begin(), std::ranges::find(text, 0));
        throw SharedError(rank == 0 ? message
                                    : mini::concat("on rank ", rank, ": ", message));
    }
}

}  // namespace train_mnist
