#include "libmini/training/optimizers.hpp"

#include <cstdint>

#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/zero.hpp"

namespace mini::training {

std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters) {
    if (options.optimizer == OptimizerKind::kAdam)
        return std::make_unique<optim::Adam>(std::move(parameters),
                                             optim::AdamOptions{.lr = options.lr});
    if (options.optimizer == OptimizerKind::kAdamW)
        return std::make_unique<optim::AdamW>(std::move(parameters),
                                              optim::AdamWOptions{.lr = options.lr});
    return std::make_unique<optim::SGD>(
        std::move(parameters),
        optim::SGDOptions{.lr = options.lr, .momentum = options.momentum});
}

JobOptimizer make_optimizer(const Options& options, const nn::Module& model,
                            const std::shared_ptr<dist::ProcessGroup>& group) {
    if (!options.zero) return {make_plain_optimizer(options, model.parameters())};
    auto zero = std::make_unique<parallel::ZeroRedundancyOptimizer>(
        model.named_parameters(),
        [&](std::vector<Tensor> own) {
            return make_plain_optimizer(options, std::move(own));
        },
        group);
    auto* const same = zero.get();
    return {std::move(zero), same};
}

std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs) {
    switch (options.scheduler) {
        case Schedule::kConstant: return nullptr;
        case Schedule::kStep:  // as in PyTorch's own MNIST example
            return std::make_unique<optim::StepLR>(optimizer, /*step_size=*/1,
                                                   /*gamma=*/0.7);
        case Schedule::kCosine:
            return std::make_unique<optim::CosineAnnealingLR>(optimizer,
                                                              /*T_max=*/epochs);
        case Schedule::kWarmup: return std::make_unique<optim::LinearLR>(optimizer);
    }
    return nullptr;
}

}  // namespace mini::training
