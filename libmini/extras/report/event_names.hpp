// The names of events in traces, and events around the forward pass of each layer.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/nn/module.hpp"

namespace mini::report {

/// The names of a network's parts, by the index that events have.
struct EventNames {
    std::vector<std::string> parameters = {};  // that require grad, as in kGradReady
    std::vector<std::string> modules = {};     // as in kModuleBegin

    /// Returns the name of a parameter: "conv1.weight", or "parameter 7" if it has none.
    std::string parameter(int64_t index) const;

    /// Returns the name of a module: "conv1", or "module 7" if it has none.
    std::string module(int64_t index) const;
};

/// Returns the names of a network's parts.
EventNames event_names(nn::Module& network);

/// Returns what is shown for an event: "conv1" for kModuleBegin and kModuleEnd, "gradient
/// ready conv1.weight" for kGradReady, "bucket 0 launched" for kBucketLaunch, and the
/// event's own name for all other kinds.
std::string shown_name(const Event& event, const EventNames& names);

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
