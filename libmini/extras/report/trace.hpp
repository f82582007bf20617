// The trace of a run: what each rank did, and when, in the format of chrome://tracing and
// ui.perfetto.dev.
//
//     rank 0  compute        [step [data][forward conv1 .. fc2][backward fc2 .. conv1|wait]
//             communication                            [all_reduce 0]   [all_reduce 1]
//     rank 1  compute        ...                             \ flow
//             communication                              [all_reduce 0]   [all_reduce 1]
//
// A rank is a process of the trace, and each of its two lanes a thread. Slices of one
// lane nest. A flow leads from the start of an all-reduce on a rank to its end on the
// next rank: no rank's all-reduce can end before all have begun theirs. All times are
// of rank 0's clock; "otherData" has the offset of each rank's clock.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::report {

/// The names of a network's parts, by the index that events have.
struct EventNames {
    std::vector<std::string> parameters = {};  // that require grad, as in kGradReady
    std::vector<std::string> modules = {};     // as in kModuleBegin
};

/// Returns the names of a network's parts.
EventNames event_names(nn::Module& network);

/// A thread of a rank in the trace.
enum class Lane { kCompute, kCommunication };

/// A part of a lane's time. Numbers that do not apply are -1.
struct Slice {
    std::string name;
    Lane lane = Lane::kCompute;
    int64_t begin = 0;  // nanoseconds
    int64_t end = 0;
    int64_t step = -1;      // of "step"
    int64_t bucket = -1;    // of an all-reduce of DistributedDataParallel
    int64_t bytes = -1;     // of a collective
    int64_t sequence = -1;  // of a collective: equal on all ranks
};

/// A moment on the compute lane: "gradient ready conv1.weight", "bucket 0 launched".
struct Moment {
    std::string name;
    int64_t time = 0;  // nanoseconds
    int64_t bucket = -1;
    int64_t bytes = -1;
};

/// The trace of one rank.
struct RankTrace {
    int rank = 0;
    int64_t offset = 0;  // nanoseconds that were added to the times of the rank's clock
    std::vector<Slice> slices;
    std::vector<Moment> moments;
};

/// Returns the nanoseconds to add to this rank's monotonic clock to get rank 0's, if the rank
/// left a barrier at `time`: no rank leaves it before all have entered it. Ranks on one host
/// share the clock; `host` names it. Cost: two all-gathers; blocks until all ranks have called
/// it.
int64_t clock_offset(dist::ProcessGroup& group, const std::string& host, int64_t time);

/// Returns the trace of one rank from its events, oldest first, in rank 0's time. A
/// gradient names its layer by its parameter's name. Leaves out what begins before or
/// ends after the events.
RankTrace trace_of(int rank, const std::vector<Event>& events, const EventNames& names,
                   int64_t offset);

/// Returns the text of a trace file. Its times begin at 0; "origin_ns" in "otherData" is
/// the time of rank 0's clock there.
std::string trace_json(const std::vector<RankTrace>& ranks);

/// Reads a text of trace_json(); the flows are left out, since they follow from the
/// slices. Throws BadFile if the text is no such trace.
std::vector<RankTrace> read_trace(const std::string& text);

/// A step of one rank. Times are in nanoseconds, of rank 0's clock.
struct TracedStep {
    Slice step;
    int64_t backward_end = 0;        // the last gradient; 0 without a span "backward"
    std::vector<Slice> parts;        // of the compute lane, one after another
    std::vector<Slice> all_reduces;  // within the step
    std::vector<Moment> launches;    // of buckets, within the step
};

/// Returns the steps of a trace, in their order.
std::vector<TracedStep> steps_of(const RankTrace& trace);

/// How much of the communication was hidden under the backward pass: means over the steps
/// of one rank, in seconds.
///
///     backward        | ................ |    waiting       |
///     communication        [ bucket 0 ]      [ bucket 1 ]
///                          hidden                not hidden
struct Overlap {
    double communication = 0.0;
    double hidden = 0.0;   // the part of communication before the end of backward
    double waiting = 0.0;  // from the last gradient until all averages are ready

    double share() const { return communication > 0 ? hidden / communication : 0.0; }
};

/// Returns the means over `steps`; zeros if there are none.
Overlap overlap_of(const std::vector<TracedStep>& steps);

}  // namespace mini::report
