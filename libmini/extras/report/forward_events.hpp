// The forward pass of a network by layer, as events.

#pragma once

#include <utility>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/nn/module.hpp"

namespace mini::report {

/// During its lifetime, hooks on all submodules of a network record kModuleBegin and
/// kModuleEnd around each forward pass. The network itself has no hooks.
class ForwardEvents {
  public:
    /// The index of an event is the submodule's in `network`.named_modules(). REQUIRES:
    /// `network` and `log` outlive this object.
    ForwardEvents(nn::Module& network, EventLog& log);
    ~ForwardEvents();
    ForwardEvents(const ForwardEvents&) = delete;
    ForwardEvents& operator=(const ForwardEvents&) = delete;

  private:
    std::vector<std::pair<nn::Module*, int>> hooks_;  // each with its id
};

}  // namespace mini::report
