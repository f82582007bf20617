#include "libmini/training/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/power_sgd.hpp"
#include "libmini/parallel/top_k.hpp"
#include "libmini/parallel/zero.hpp"

namespace mini::training {
namespace {

// The layers of the ConvNet need 50 KiB an image: 10 MiB for a batch. Batches of 1,000,
// as in PyTorch's example, would need more memory than the training images.
constexpr int64_t kTestBatch = 200;

// Gives a rank its samples in file order.
class FileOrderSampler : public data::Sampler {
  public:
    FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank, int world_size) {
        for (int64_t start = 0; start < dataset_size; start += batch_size) {
            const int64_t share = std::min(batch_size, dataset_size - start) / world_size;
            for (int64_t i = 0; i < share; ++i)
                indices_.push_back(start + rank * share + i);
        }
    }
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

parallel::CommHook top_k(const Options& options) {
    parallel::CommHook hook = parallel::top_k_hook(options.compress_ratio);
    return options.error_feedback ? parallel::error_feedback_hook(std::move(hook)) : hook;
}

// REQUIRES: the buckets are compressed.
parallel::CommHook hook_of(const Options& options) {
    if (options.compress == "fp16") return parallel::fp16_compress_hook();
    if (options.compress == "bf16") return parallel::bf16_compress_hook();
    if (options.compress == "topk") return top_k(options);
    return parallel::power_sgd_hook(
        {.matrix_approximation_rank = options.matrix_approximation_rank,
         .start_powerSGD_iter = options.start_powerSGD_iter,
         .use_error_feedback = options.error_feedback});
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
    if (options.compress != "none") ddp->register_comm_hook(hook_of(options));
    return ddp;
}

}  // namespace

JobData load_data(const data::DataChoice& choice) {
    return {data::load_data(choice, /*train=*/true),
            data::load_data(choice, /*train=*/false)};
}

data::DataLoader training_loader(const Options& options, const JobData& data, int rank,
                                 int world_size, Device device) {
    data::DataLoaderOptions loading{.batch_size = options.batch_size / world_size,
                                    .num_workers = options.workers,
                                    .pin_memory = device.is_cuda()};
    if (options.order == "file") {
        // File order needs no random numbers. A generator of its own for the loader
        // leaves the model's draws unchanged.
        loading.generator = std::make_shared<Generator>();
        loading.sampler = std::make_shared<FileOrderSampler>(
            data.train->size(), options.batch_size, rank, world_size);
        return {data.train, loading};
    }
    if (options.partition == "tutorial") {
        const std::vector<double> sizes(static_cast<size_t>(world_size),
                                        1.0 / world_size);
        const data::DataPartitioner partitioner(data.train, sizes);
        loading.shuffle = true;
        return {std::make_shared<data::Partition>(partitioner.use(rank)), loading};
    }
    loading.sampler = std::make_shared<data::DistributedSampler>(
        data.train->size(),
        data::DistributedSamplerOptions{
            .num_replicas = world_size, .rank = rank, .seed = options.seed});
    return {data.train, loading};
}

data::DataLoader test_loader(const JobData& data, int rank, int world_size) {
    const auto sampler = std::make_shared<data::DistributedEvalSampler>(
        data.test->size(),
        data::DistributedEvalSamplerOptions{.num_replicas = world_size, .rank = rank});
    return {data.test, {.batch_size = kTestBatch, .sampler = sampler}};
}

std::unique_ptr<parallel::ReplicatedModule> replicate(
    nn::Module& model, const Options& options,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    if (options.sync == "none") return nullptr;
    if (options.sync == "average")
        return std::make_unique<parallel::AveragedModule>(model, group);
    if (options.sync == "flat")
        return std::make_unique<parallel::FlatModule>(model, group);
    if (options.sync == "overlap")
        return std::make_unique<parallel::OverlappedModule>(model, group);
    return make_ddp(model, options, group);
}

std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters) {
    if (options.optimizer == "adam")
        return std::make_unique<optim::Adam>(std::move(parameters),
                                             optim::AdamOptions{.lr = options.lr});
    if (options.optimizer == "adamw")
        return std::make_unique<optim::AdamW>(std::move(parameters),
                                              optim::AdamWOptions{.lr = options.lr});
    return std::make_unique<optim::SGD>(
        std::move(parameters),
        optim::SGDOptions{.lr = options.lr, .momentum = options.momentum});
}

std::unique_ptr<optim::Optimizer> make_optimizer(
    const Options& options, const nn::Module& model,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    if (!options.zero) return make_plain_optimizer(options, model.parameters());
    return std::make_unique<parallel::ZeroRedundancyOptimizer>(
        model.parameters(),
        [&](std::vector<Tensor> own) {
            return make_plain_optimizer(options, std::move(own));
        },
        group);
}

std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs) {
    if (options.scheduler == "step")  // as in PyTorch's own MNIST example
        return std::make_unique<optim::StepLR>(optimizer, /*step_size=*/1, /*gamma=*/0.7);
    if (options.scheduler == "cosine")
        return std::make_unique<optim::CosineAnnealingLR>(optimizer, /*T_max=*/epochs);
    if (options.scheduler == "warmup")
        return std::make_unique<optim::LinearLR>(optimizer);
    return nullptr;
}

}  // namespace mini::training
