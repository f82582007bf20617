// Module: named parameters, buffers and submodules (`torch.nn.Module`).
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
// Parameters, buffers and submodules are plain members; the functions that register them
// store their addresses, so modules can be neither copied nor moved. Parameters are
// initialised when the members are constructed: in PyTorch's order if the members are
// declared in PyTorch's order. An assignment to a member replaces the parameter or buffer,
// as in PyTorch: after `decoder.weight = encoder.weight` both layers have one weight.
//
// If the number of submodules is known only at run time, make_module constructs and owns
// the submodules:
//
//     for (int i = 0; i < depth; ++i)
//         layers_.push_back(&make_module<nn::Linear>("fc" + std::to_string(i), 50, 50));

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::nn {

using mini::NamedTensors;

class Module;

/// A parameter or buffer of a module: the name, and the address of the member.
struct NamedMember {
    std::string name;
    Tensor* member;
    bool is_parameter;
};
using NamedMembers = std::vector<NamedMember>;

/// Modules with their names.
using NamedModules = std::vector<std::pair<std::string, Module*>>;

/// The options of Module::load_state_dict.
struct LoadOptions {
    bool strict = true;  // every name must be in the module and in the state
};

/// The names that load_state_dict has skipped: of the module alone, of the state alone.
struct IncompatibleKeys {
    std::vector<std::string> missing_keys, unexpected_keys;
};

/// A hook, called with a module and its input before the forward pass.
using ForwardPreHook = std::function<void(Module& module, const Tensor& x)>;

/// A hook, called with a module, its input and its output after the forward pass.
using ForwardHook = std::function<void(Module& module, const Tensor& x, const Tensor& y)>;

class Module {
  public:
    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Computes the module's output for one batch. Call modules by operator(), which
    /// calls the hooks too.
    virtual Tensor forward(const Tensor& x) = 0;
    Tensor operator()(const Tensor& x) {
        const bool has_hooks = !pre_hooks_.empty() || !hooks_.empty();
        return has_hooks ? forward_with_hooks(x) : forward(x);
    }

    /// Registers a hook for all later calls of this module (`register_forward_pre_hook`),
    /// and returns its id for remove_hook. Hooks are called in the order of registration.
    /// A hook may add and remove hooks of its module; the next call uses them.
    int register_forward_pre_hook(ForwardPreHook hook);

    /// Registers a hook in the same way (`register_forward_hook`); it cannot change the
    /// output.
    int register_forward_hook(ForwardHook hook);

    /// Removes the hook with this id.
    void remove_hook(int id);

    /// Returns the parameters of this module and its submodules, with names like
    /// "conv1.weight" (`named_parameters`): first the module's own parameters, then the
    /// parameters of each submodule, in order of registration. A shared parameter is
    /// returned once, an undefined one is left out. Throws UsageError if a member of a
    /// parameter was assigned a tensor that is not a parameter: neither registered with a
    /// module nor a leaf that requires grad.
    NamedTensors named_parameters() const;
    std::vector<Tensor> parameters() const;

    /// Returns the buffers in the same way. Buffers are tensors that belong to the state
    /// but are not trained (`named_buffers`).
    NamedTensors named_buffers() const;
    std::vector<Tensor> buffers() const;

    /// Returns this module and all submodules, each once, parents first (`modules`).
    std::vector<Module*> modules();

    /// Returns the same modules with their names (`named_modules`): `prefix` for this
    /// module, then names like "layer1.0.conv1"; a shared module has its first name.
    NamedModules named_modules(const std::string& prefix = "");

    /// Calls `function` with every submodule, then with this module: each module comes
    /// after its submodules (`apply`). A submodule with several names in one module is
    /// visited once for that module.
    void apply(const std::function<void(Module&)>& function);

    /// Returns the parameters and buffers, detached, in PyTorch's order: each module's
    /// parameters, then its buffers, then its submodules (`state_dict`). A shared tensor
    /// is returned under each of its names. The tensors share storage with the module.
    NamedTensors state_dict() const;

    /// Copies the tensors of `state` into the module. Throws Error listing every missing
    /// name, every unexpected name and every different shape or dtype; the module is then
    /// unchanged.
    void load_state_dict(const NamedTensors& state);

    /// With `strict = false`, does so only for names that both have, and returns the other
    /// names (`load_state_dict(state, strict=False)`).
    IncompatibleKeys load_state_dict(const NamedTensors& state, LoadOptions options);

    /// Moves all parameters, their gradients, and all buffers to a device, in place: all
    /// handles to the same tensors see the move (`to`). Create the optimizer afterwards.
    Module& to(Device device);

    /// Sets training or evaluation mode for this module and all submodules (`train`).
    /// Dropout and batch normalisation depend on the mode. An override that calls
    /// Module::train, and then eval() of a submodule, keeps that submodule frozen.
    virtual void train(bool training = true);
    void eval() { train(false); }
    bool is_training() const { return training_; }

    /// Sets the mode of this module alone (`module.training = ...`).
    void set_training(bool training) { training_ = training; }

    /// Clears the gradients of all parameters: they become undefined.
    void zero_grad();

  protected:
    /// Adds a parameter, sets its requires_grad, and returns it. The module keeps the
    /// address of `member`: the parameter is the tensor that the member refers to, also
    /// after an assignment (`Module.__setattr__`). An undefined member is a parameter from
    /// its first assignment on. REQUIRES: `member` stays at its address as long as this
    /// object is used; it is not a local variable, nor an element of a vector that grows.
    /// Throws Error when the name is empty, contains a dot, or is already used.
    Tensor& register_parameter(const std::string& name, Tensor& member);

    /// Adds a parameter that is not a member. This object keeps the handle, and returns a
    /// reference to it. An assignment to the reference replaces the parameter, an
    /// assignment to a copy of the handle does not.
    Tensor& register_parameter(const std::string& name, const Tensor& parameter);

    /// Add a buffer, and return it, in the same two ways.
    Tensor& register_buffer(const std::string& name, Tensor& member);
    Tensor& register_buffer(const std::string& name, const Tensor& buffer);

    /// Adds a submodule. REQUIRES: `module` outlives this object. Throws Error as
    /// register_parameter does.
    void register_module(const std::string& name, Module& module);

    /// Adds a submodule, not null, which this object then owns, and returns it.
    template <typename M>
    M& register_module(const std::string& name, std::unique_ptr<M> module) {
        M& owned = *module;
        register_module(name, owned);
        owned_.push_back(std::move(module));
        return owned;
    }

    /// Constructs a submodule, registers it and returns it. This module owns it.
    template <typename M, typename... Args>
    M& make_module(const std::string& name, Args&&... args) {
        return register_module(name, std::make_unique<M>(std::forward<Args>(args)...));
    }

  private:
    Tensor forward_with_hooks(const Tensor& x);
    void check_name(const std::string& name) const;

    // Appends the tensors that members refer to now; throws as named_parameters() does.
    static void append(NamedTensors&, const std::string& prefix, const NamedMembers&);

    // Calls `visit` for this module and all below it, each under each of its names.
    using Visit = std::function<void(const std::string& prefix, const Module& module)>;
    void walk(const std::string& prefix, const Visit& visit) const;

    NamedMembers parameters_;
    NamedMembers buffers_;
    std::deque<Tensor> tensors_;  // the parameters and buffers that are not members
    NamedModules modules_;
    std::vector<std::unique_ptr<Module>> owned_;
    bool training_ = true;
    std::map<int, ForwardPreHook> pre_hooks_;  // by id
    std::map<int, ForwardHook> hooks_;         // by id
    int next_hook_ = 0;
};

}  // namespace mini::nn
