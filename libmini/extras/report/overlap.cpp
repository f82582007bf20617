#include "libmini/extras/report/overlap.hpp"

#include <algorithm>
#include <cstddef>

namespace mini::report {
namespace {

bool is_inside(const Slice& slice, const Slice& step) {
    return slice.begin >= step.begin && slice.end <= step.end;
}

// Adds a slice of the compute lane to its step. Waiting is inside of backward: the part
// "backward" ends where waiting begins.
void add_part(TracedStep& step, const Slice& slice) {
    if (slice.name == "backward") step.backward_end = slice.end;
    if (slice.name == "waiting") {
        step.backward_end = slice.begin;
        for (Slice& part : step.parts)
            if (part.name == "backward") part.end = slice.begin;
    }
    for (const char* name : {"data", "forward", "backward", "waiting", "optimizer"})
        if (slice.name == name) step.parts.push_back(slice);
}

double seconds(int64_t nanoseconds, size_t steps) {
    return static_cast<double>(nanoseconds) / 1e9 / static_cast<double>(steps);
}

}  // namespace

std::vector<TracedStep> steps_of(const RankTrace& trace) {
    std::vector<TracedStep> steps;
    for (const Slice& slice : trace.slices)
        if (slice.step >= 0)
            steps.push_back(
                {.step = slice, .parts = {}, .all_reduces = {}, .launches = {}});
    for (TracedStep& step : steps) {
        for (const Slice& slice : trace.slices) {
            if (!is_inside(slice, step.step)) continue;
            if (slice.lane == Lane::kCompute)
                add_part(step, slice);
            else if (slice.name.starts_with("all_reduce"))
                step.all_reduces.push_back(slice);
        }
        for (const Moment& moment : trace.moments)
            if (moment.bucket >= 0 && moment.time >= step.step.begin &&
                moment.time <= step.step.end)
                step.launches.push_back(moment);
    }
    return steps;
}

Overlap overlap_of(const std::vector<TracedStep>& steps) {
    int64_t communication = 0, hidden = 0, waiting = 0;
    for (const TracedStep& step : steps) {
        for (const Slice& slice : step.all_reduces) {
            communication += slice.end - slice.begin;
            const int64_t end = std::min(slice.end, step.backward_end);
            hidden += std::max<int64_t>(0, end - slice.begin);
        }
        for (const Slice& part : step.parts)
            if (part.name == "waiting") waiting += part.end - part.begin;
    }
    if (steps.empty()) return {};
    return {.communication = seconds(communication, steps.size()),
            .hidden = seconds(hidden, steps.size()),
            .waiting = seconds(waiting, steps.size())};
}

}  // namespace mini::report
