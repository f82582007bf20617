// The ranges of trace.json, live in a profiler.
//
//     spans, forward passes of layers       ranges of the main thread, which nest
//     collectives                           ranges that may overlap
//     ready gradients, launched buckets     marks

#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "libmini/core/events.hpp"
#include "libmini/kernels/cuda/profiler.hpp"
#include "libmini/report/event_names.hpp"

namespace mini::report {

/// Passes the events of a log to a profiler, during its lifetime.
class ProfilerRanges {
  public:
    /// REQUIRES: `log` outlives this object and has no other listener.
    ProfilerRanges(EventLog& log, EventNames names,
                   std::unique_ptr<cuda::Profiler> profiler);
    ~ProfilerRanges();
    ProfilerRanges(const ProfilerRanges&) = delete;
    ProfilerRanges& operator=(const ProfilerRanges&) = delete;

  private:
    void pass(const Event& event);

    EventLog& log_;
    EventNames names_;
    std::unique_ptr<cuda::Profiler> profiler_;
    std::map<int64_t, uint64_t> collectives_;  // the range of each, by sequence number
};

}  // namespace mini::report
