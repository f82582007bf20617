// Module: parameters, buffers and submodules under names (`torch.nn.Module`).
//
//     class Net : public nn::Module {
//       public:
//         Net() : fc1_(784, 50), fc2_(50, 10) {
//             register_module("fc1", fc1_);
//             register_module("fc2", fc2_);
//         }
//         Tensor forward(const Tensor& x) override { return fc2_(relu(fc1_(x))); }
//
//       private:
//         nn::Linear fc1_;
//         nn::Linear fc2_;
//     };
//
// Submodules are plain members; registering notes their address, so modules neither copy
// nor move. Parameters are drawn as the members are constructed: in PyTorch's order, when
// they are declared in PyTorch's order. Where the number of submodules is known only at run
// time, the module makes and owns them itself:
//
//     for (int i = 0; i < depth; ++i)
//         layers_.push_back(&make_module<nn::Linear>("fc" + std::to_string(i), 50, 50));

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::nn {

/// Tensors under their names, in the order of registration.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class Module {
  public:
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// The module's result for one batch.
    virtual Tensor forward(const Tensor& x) = 0;
    Tensor operator()(const Tensor& x) { return forward(x); }

    /// All parameters below, each once even where it is shared, under names like
    /// "conv1.weight": first the module's own, then those of its submodules in order
    /// (`named_parameters`).
    NamedTensors named_parameters() const;
    std::vector<Tensor> parameters() const;

    /// Tensors that belong to the state but are not trained, likewise (`named_buffers`).
    NamedTensors named_buffers() const;
    std::vector<Tensor> buffers() const;

    /// This module and all below, each once, parents first (`modules`).
    std::vector<Module*> modules();

    /// Calls `function` with every module, parents last, as initialisation wants (`apply`).
    void apply(const std::function<void(Module&)>& function);

    /// Parameters and buffers, detached, under every name they have, in PyTorch's order:
    /// each module's parameters, then its buffers, then its submodules (`state_dict`).
    /// They share storage with the module.
    NamedTensors state_dict() const;

    /// Copies the tensors of `state` into the module. Throws Error listing every name
    /// that is missing or unexpected and every shape that differs; then nothing has been
    /// changed.
    void load_state_dict(const NamedTensors& state);

    /// Moves all parameters, their gradients, and all buffers to a device, in place: every
    /// handle to them sees it (`to`). Make the optimizer afterwards.
    Module& to(Device device);

    /// Training or evaluation: dropout and the like behave differently. For all modules below.
    void train(bool training = true);
    void eval() { train(false); }
    bool is_training() const { return training_; }

    /// Forgets the gradients of all parameters.
    void zero_grad();

  protected:
    /// Adds a parameter, which from now on requires grad, and returns it. Throws Error
    /// when the name is empty, has a dot, or is taken.
    Tensor register_parameter(const std::string& name, Tensor parameter);
    Tensor register_buffer(const std::string& name, Tensor buffer);

    /// REQUIRES: `module` lives as long as this one.
    void register_module(const std::string& name, Module& module);

    /// Makes a submodule that this module owns, registers and returns it.
    template <typename M, typename... Args>
    M& make_module(const std::string& name, Args&&... args) {
        auto module = std::make_unique<M>(std::forward<Args>(args)...);
        M& made = *module;
        register_module(name, made);
        owned_.push_back(std::move(module));
        return made;
    }

  private:
    void check_name(const std::string& name) const;

    using Visit = std::function<void(const std::string& prefix, const Module& module)>;
    void walk(const std::string& prefix, const Visit& visit) const;

    NamedTensors parameters_;
    NamedTensors buffers_;
    std::vector<std::pair<std::string, Module*>> modules_;
    std::vector<std::unique_ptr<Module>> owned_;
    bool training_ = true;
};

}  // namespace mini::nn
