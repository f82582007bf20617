// Dropout: in training, sets random elements or channels to zero (Srivastava et al.
// 2014); in evaluation, returns the input. Draws from the calling thread's
// default_generator().

#pragma once

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Calls the function with the probability p.
template <Tensor (*kFunction)(const Tensor&, double, bool, Generator&)>
class DropoutModule : public Module {
  public:
    explicit DropoutModule(double p = 0.5) : p_(p) {}
    Tensor forward(const Tensor& x) override {
        return kFunction(x, p_, is_training(), default_generator());
    }

  private:
    double p_;
};

/// Sets single elements, or whole channels of (N, C, H, W), to zero with probability p
/// (`torch.nn.Dropout`, `Dropout2d`).
using Dropout = DropoutModule<dropout>;
using Dropout2d = DropoutModule<dropout2d>;

}  // namespace mini::nn
