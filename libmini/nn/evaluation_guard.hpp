// EvaluationGuard: a model in evaluation mode, without recording gradients.

#pragma once

#include <utility>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// During its lifetime, the model is in evaluation mode and gradients are not recorded.
/// The destructor restores the mode of each module of the model, also when the model
/// throws. REQUIRES: the model has the same modules during this time.
class EvaluationGuard {
  public:
    explicit EvaluationGuard(Module& model) {
        for (Module* const module : model.modules())
            modes_.emplace_back(module, module->is_training());
        model.eval();
    }
    ~EvaluationGuard() {
        for (const auto& [module, was_training] : modes_)
            module->set_training(was_training);
    }
    EvaluationGuard(const EvaluationGuard&) = delete;
    EvaluationGuard& operator=(const EvaluationGuard&) = delete;

  private:
    std::vector<std::pair<Module*, bool>> modes_;
    NoGradGuard no_grad_;
};

}  // namespace mini::nn
