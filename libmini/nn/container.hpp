// Containers: modules that consist of submodules with the names "0", "1", ...

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Applies modules one after the other (`torch.nn.Sequential`). The caller owns the
/// modules that are passed to the constructor; the container owns the modules that
/// append() constructs. One container may have modules of both kinds.
///
///     nn::Linear first(2, 3), second(3, 1);       nn::Sequential net;
///     nn::Sequential net(first, second);          net.append<nn::Linear>(2, 3);
///                                                 net.append<nn::Linear>(3, 1);
class Sequential : public Module {
  public:
    /// REQUIRES: `modules` outlive this object.
    template <typename... Modules>
    explicit Sequential(Modules&... modules) {
        (add(modules), ...);
    }

    /// Constructs a module, adds it as the next step, and returns a reference to it. The
    /// container owns the module.
    template <typename M, typename... Args>
    M& append(Args&&... args) {
        M& made = make_module<M>(std::to_string(size()), std::forward<Args>(args)...);
        steps_.push_back(&made);
        return made;
    }

    size_t size() const { return steps_.size(); }
    Module& operator[](size_t i) const { return *steps_.at(i); }

    /// Applies the steps in order; returns x if there are no steps.
    Tensor forward(const Tensor& x) override;

  private:
    void add(Module& module);
    std::vector<Module*> steps_;
};

/// A list of modules that another module calls (`torch.nn.ModuleList`).
class ModuleList : public Module {
  public:
    /// Constructs a module, adds it to the list, and returns a reference to it. The list
    /// owns the module.
    template <typename M, typename... Args>
    M& append(Args&&... args) {
        M& made = make_module<M>(std::to_string(size()), std::forward<Args>(args)...);
        modules_.push_back(&made);
        return made;
    }

    size_t size() const { return modules_.size(); }
    Module& operator[](size_t i) const { return *modules_.at(i); }
    auto begin() const { return modules_.begin(); }
    auto end() const { return modules_.end(); }

    /// Throws UsageError: a ModuleList does not define in which order to call its
    /// modules.
    Tensor forward(const Tensor& x) override;

  private:
    std::vector<Module*> modules_;
};

}  // namespace mini::nn
