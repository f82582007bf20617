// WrappedParameters: the parameters of a module as they were when a wrapper was created.
//
// A wrapper averages the gradients of these parameters. A program may change the module
// afterwards: freeze a layer, replace a parameter, or move the module to another device.
// A layer may be frozen and thawed again; the other changes would leave gradients that
// are not averaged, so the next forward pass throws an error that names the parameter.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

class WrappedParameters {
  public:
    /// Claims the parameters of `module` that require grad. Throws UsageError if there is
    /// no such parameter, or if another wrapper averages one of them; the message names
    /// it. REQUIRES: `module` outlives this object.
    explicit WrappedParameters(const nn::Module& module);

    /// Ends the claim, so that the module can be wrapped again.
    ~WrappedParameters();
    WrappedParameters(const WrappedParameters&) = delete;
    WrappedParameters& operator=(const WrappedParameters&) = delete;

    /// Returns the claimed parameters, with their names in the module.
    const nn::NamedTensors& trained() const { return trained_; }

    /// Throws Error, naming `rank` and the parameter, if the module has other parameters
    /// now, if a claimed parameter has another shape or device, or if a parameter that
    /// was frozen at first now requires grad.
    void check_unchanged(int rank) const;

  private:
    struct Wrapped {
        std::string name;
        Tensor tensor;
        Shape shape;
        Device device;
        std::shared_ptr<AccumulateGrad> accumulator;  // null if it was frozen
    };
    static std::string change_of(const Wrapped& wrapped, const Tensor& now);
    std::string first_change() const;

    const nn::Module& module_;
    std::vector<Wrapped> all_;
    nn::NamedTensors trained_;
};

}  // namespace mini::parallel
