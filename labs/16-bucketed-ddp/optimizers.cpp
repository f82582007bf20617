#include "optimizers.hpp"

#include <cstdint>

#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/zero.hpp"

namespace train_mnist {

namespace optim = mini::optim;

std::unique_ptr<optim::Optimizer> make_plain_optimizer(
    const Options& options, std::vector<mini::Tensor> parameters) {
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
    const Options& options, std::vector<mini::Tensor> parameters,
    const std::shared_ptr<mini::dist::ProcessGroup>& group) {
    if (!options.zero) return make_plain_optimizer(options, std::move(parameters));
    return std::make_unique<mini::parallel::ZeroRedundancyOptimizer>(
        std::move(parameters),
        [&](std::vector<mini::Tensor> own) {
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
        return std::make_unique<optim::LinearWarmup>(optimizer);
    return nullptr;
}

}  // namespace train_mnist
