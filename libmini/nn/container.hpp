// Containers: modules that consist of submodules with the names "0", "1", ...

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Applies modules one after the other (`torch.nn.Sequential`). The modules belong to the
/// caller (constructor) or to the container (append); both can be mixed.
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

    /// Constructs the next step, owns it, and returns a reference to it.
    template <typename M, typename... Args>
    M& append(Args&&... args) {
        M& made = make_module<M>(std::to_string(size()), std::forward<Args>(args)...);
        steps_.push_back(&made);
        return made;
    }

    size_t size() const { return steps_.size(); }
    Module& operator[](size_t i) const { return *steps_.at(i); }

    /// Returns x if there are no steps.
    Tensor forward(const Tensor& x) override;

  private:
    void add(Module& module);
    std::vector<Module*> steps_;
};

/// A list of modules that another module calls (`torch.nn.ModuleList`).
class ModuleList : public Module {
  public:
    /// Constructs the next module, owns it, and returns a reference to it.
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
