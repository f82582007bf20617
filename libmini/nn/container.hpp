// Containers: modules that consist of submodules with the names "0", "1", ...

#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::nn {

/// A list of modules that another module calls (`torch.nn.ModuleList`).
class ModuleList : public Module {
  public:
    /// Constructs a module, adds it to the list, and returns a reference to it. The list
    /// owns the module.
    template <typename M, typename... Args>
    M& append(Args&&... args) {
        return add(std::make_unique<M>(std::forward<Args>(args)...));
    }

    size_t size() const { return modules_.size(); }
    Module& operator[](size_t i) const { return *modules_.at(i); }
    auto begin() const { return modules_.begin(); }
    auto end() const { return modules_.end(); }

    /// Throws UsageError: a ModuleList does not define in which order to call its
    /// modules.
    Tensor forward(const Tensor& x) override;

  protected:
    /// Adds a module as the last one; the list owns a module in a std::unique_ptr.
    void add(Module& module);
    template <typename M>
    M& add(std::unique_ptr<M> module) {
        M& added = register_module(std::to_string(size()), std::move(module));
        modules_.push_back(&added);
        return added;
    }

  private:
    std::vector<Module*> modules_;
};

/// A list that applies its modules one after the other (`torch.nn.Sequential`). Each
/// argument of the constructor is a module, which the caller owns, or a std::unique_ptr,
/// which the container takes over: modules cannot be moved, so none is passed by value.
///
///     nn::Linear last(3, 1);
///     nn::Sequential net(std::make_unique<nn::Linear>(2, 3), last);
///     net.append<nn::ReLU>();
class Sequential : public ModuleList {
  public:
    /// REQUIRES: modules that are passed by reference outlive this object.
    template <typename... Modules>
    explicit Sequential(Modules&&... modules) {
        static_assert((!std::is_base_of_v<Module, Modules> && ...),
                      "write std::make_unique<nn::Linear>(2, 3), not nn::Linear(2, 3)");
        (add(std::forward<Modules>(modules)), ...);
    }

    /// Applies the modules in order; returns x if the list is empty.
    Tensor forward(const Tensor& x) override;
};

}  // namespace mini::nn
