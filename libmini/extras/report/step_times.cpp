#include "libmini/extras/report/step_times.hpp"

#include <map>
#include <string_view>

namespace mini::report {

StepTimes step_times(const std::vector<Event>& events) {
    std::map<std::string_view, int64_t> begins, sums;  // in nanoseconds, by name
    int64_t backward_end = 0;
    for (const Event& event : events) {
        const std::string_view name = event.name;
        if (event.kind == EventKind::kBackwardEnd) backward_end = event.nanoseconds;
        if (event.kind == EventKind::kSpanBegin) begins[name] = event.nanoseconds;
        if (event.kind != EventKind::kSpanEnd || !begins.contains(name)) continue;
        const int64_t begin = begins[name];
        sums[name] += event.nanoseconds - begin;
        if (name == "backward" && backward_end > begin)
            sums["waiting"] += event.nanoseconds - backward_end;
    }
    const auto seconds = [&](std::string_view name) {
        return static_cast<double>(sums[name]) / 1e9;
    };
    return {.data = seconds("data"),
            .forward = seconds("forward"),
            .backward = seconds("backward") - seconds("waiting"),
            .waiting = seconds("waiting"),
            .optimizer = seconds("optimizer"),
            .step = seconds("step")};
}

}  // namespace mini::report
