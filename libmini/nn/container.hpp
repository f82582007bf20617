// Containers: modules that consist of others, under the names "0", "1", ...

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// Modules one after the other (`torch.nn.Sequential`): modules of the caller, modules
/// that it makes and owns, or some of both.
///
///     nn::Linear first(2, 3), second(3, 1);       nn::Sequential net;
///     nn::Sequential net(first, second);          net.append<nn::Linear>(2, 3);
///                                                 net.append<nn::Linear>(3, 1);
class Sequential : public Module {
  public:
    /// REQUIRES: `modules` live as long as this one.
    template <typename... Modules>
    explicit Sequential(Modules&... modules) {
        (add(modules), ...);
    }

    /// Makes the next step, and returns it.
    template <typename M, typename... Args>
    M& append(Args&&... args) {
        M& made = make_module<M>(std::to_string(size()), std::forward<Args>(args)...);
        steps_.push_back(&made);
        return made;
    }

    size_t size() const { return steps_.size(); }
    Module& operator[](size_t i) const { return *steps_.at(i); }

    /// x itself when there is no step.
    Tensor forward(const Tensor& x) override;

  private:
    void add(Module& module);
    std::vector<Module*> steps_;
};

/// A list of modules for another module to call (`torch.nn.ModuleList`).
class ModuleList : public Module {
  public:
    /// Makes the next module, and returns it.
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

    /// Throws UsageError: a list does not know how its modules follow each other.
    Tensor forward(const Tensor& x) override;

  private:
    std::vector<Module*> modules_;
};

}  // namespace mini::nn
