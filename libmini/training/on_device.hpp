// OnDevice: wraps a model on a GPU, so that the model accepts batches in CPU memory.

#pragma once

#include "libmini/nn/module.hpp"

namespace mini::training {

/// Computes model(x) with x copied to `device`. REQUIRES: the model outlives this object.
class OnDevice : public nn::Module {
  public:
    OnDevice(nn::Module& model, Device device) : model_(model), device_(device) {
        register_module("model", model);
    }
    Tensor forward(const Tensor& x) override { return model_(x.to(device_)); }

  private:
    nn::Module& model_;
    Device device_;
};

}  // namespace mini::training
