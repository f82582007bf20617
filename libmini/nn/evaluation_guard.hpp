// EvaluationGuard: a model in evaluation mode, without recording gradients.

#pragma once

#include "libmini/autograd/node.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// During its lifetime, the model is in evaluation mode and gradients are not recorded.
/// The destructor restores the model's mode, also when the model throws.
class EvaluationGuard {
  public:
    explicit EvaluationGuard(Module& model)
        : model_(model), was_training_(model.is_training()) {
        model.eval();
    }
    ~EvaluationGuard() { model_.train(was_training_); }
    EvaluationGuard(const EvaluationGuard&) = delete;
    EvaluationGuard& operator=(const EvaluationGuard&) = delete;

  private:
    Module& model_;
    bool was_training_;
    NoGradGuard no_grad_;
};

}  // namespace mini::nn
