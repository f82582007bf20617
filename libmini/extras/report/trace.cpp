#include "libmini/extras/report/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"

namespace mini::report {
namespace {

std::string name_at(const std::vector<std::string>& names, int64_t index,
                    const char* kind) {
    const auto i = static_cast<size_t>(index);
    return i < names.size() ? names[i] : concat(kind, " ", index);
}

// Returns the name of a parameter: "conv1.weight", or "parameter 7" if it has none.
std::string parameter_of(const EventNames& names, int64_t index) {
    return name_at(names.parameters, index, "parameter");
}

// Returns what is shown for an event: the name of its layer, "gradient ready conv1.weight",
// "bucket 0 launched", or the event's own name.
std::string shown_name(const Event& event, const EventNames& names) {
    switch (event.kind) {
        case EventKind::kModuleBegin:
        case EventKind::kModuleEnd: return name_at(names.modules, event.index, "module");
        case EventKind::kGradReady:
            return concat("gradient ready ", parameter_of(names, event.index));
        case EventKind::kBucketLaunch: return concat("bucket ", event.index, " launched");
        default: return event.name;
    }
}

// Reads the events of one rank. The main thread's events make the compute lane, those of
// collectives the other lane.
class EventReading {
  public:
    EventReading(const EventNames& names, int64_t offset, RankTrace& trace)
        : names_(names), offset_(offset), trace_(trace) {}

    void read(const Event& event) {
        const int64_t now = event.nanoseconds + offset_;
        switch (event.kind) {
            case EventKind::kSpanBegin:
            case EventKind::kModuleBegin: open_.push_back(slice(event, now)); break;
            case EventKind::kSpanEnd:
            case EventKind::kModuleEnd: close(event, now); break;
            case EventKind::kForwardBegin: network_ = now; break;
            case EventKind::kForwardEnd: add("network", network_, now); break;
            case EventKind::kGradReady: gradient(event, now); break;
            case EventKind::kBackwardEnd: backward_end_ = now; break;
            case EventKind::kBucketLaunch: launch(event, now); break;
            case EventKind::kCollectiveBegin: begin_collective(event, now); break;
            case EventKind::kCollectiveEnd: end_collective(event, now); break;
            default: break;
        }
    }

  private:
    Slice slice(const Event& event, int64_t now) const {
        const bool is_step = std::string_view(event.name) == "step";
        return {.name = shown_name(event, names_),
                .begin = now,
                .step = is_step ? event.index : -1};
    }

    // Adds a slice of the compute lane, if its start is known.
    void add(const std::string& name, int64_t begin, int64_t end) {
        const bool is_inside = !open_.empty() && begin >= open_.back().begin;
        if (is_inside)
            trace_.slices.push_back({.name = name, .begin = begin, .end = end});
    }

    // Ends the innermost span or module; events whose start or end is missing are dropped.
    void close(const Event& event, int64_t now) {
        if (open_.empty() || open_.back().name != shown_name(event, names_))
            return open_.clear();
        Slice done = open_.back();
        if (done.name == "backward") {
            end_layer();
            add("waiting", backward_end_, now);
        }
        open_.pop_back();
        done.end = now;
        trace_.slices.push_back(done);
    }

    // A layer's part of backward lasts from the previous layer's last gradient to its own
    // last gradient.
    void gradient(const Event& event, int64_t now) {
        trace_.moments.push_back(
            {.name = shown_name(event, names_), .time = now, .bytes = event.bytes});
        if (open_.empty() || open_.back().name != "backward") return;
        const std::string name = parameter_of(names_, event.index);
        const std::string layer = name.substr(0, name.rfind('.'));
        if (layer != layer_) {
            end_layer();
            layer_begin_ = std::max(layer_end_, open_.back().begin);
            layer_ = layer;
        }
        layer_end_ = now;
    }
    void end_layer() {
        if (!layer_.empty()) add(layer_, layer_begin_, layer_end_);
        layer_.clear();
    }

    void launch(const Event& event, int64_t now) {
        trace_.moments.push_back({.name = shown_name(event, names_),
                                  .time = now,
                                  .bucket = event.index,
                                  .bytes = event.bytes});
        launched_.push_back(event.index);
    }

    // Collectives begin and end in the order of the launches.
    void begin_collective(const Event& event, int64_t now) {
        Slice slice{.name = event.name,
                    .lane = Lane::kCommunication,
                    .begin = now,
                    .bytes = event.bytes,
                    .sequence = event.index};
        if (!launched_.empty()) {
            slice.bucket = launched_.front();
            slice.name += concat(" bucket ", slice.bucket);
            launched_.pop_front();
        }
        running_.push_back(slice);
    }
    // On a GPU several collectives may be in flight; the device runs one after another.
    void end_collective(const Event& event, int64_t now) {
        if (running_.empty() || running_.front().sequence != event.index) return;
        Slice done = running_.front();
        running_.pop_front();
        done.begin = std::max(done.begin, collective_end_);
        done.end = collective_end_ = now;
        trace_.slices.push_back(done);
    }

    const EventNames& names_;
    int64_t offset_;
    RankTrace& trace_;
    std::vector<Slice> open_;  // spans and modules of the main thread, the innermost last
    int64_t network_ = -1, backward_end_ = -1;
    std::string layer_;  // whose gradients are becoming ready, or ""
    int64_t layer_begin_ = 0, layer_end_ = 0;
    std::deque<int64_t> launched_;  // buckets whose collective has not begun
    std::deque<Slice> running_;     // collectives that have not ended
    int64_t collective_end_ = 0;
};

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

EventNames event_names(nn::Module& network) {
    EventNames names;
    for (const auto& [name, parameter] : network.named_parameters())
        if (parameter.requires_grad()) names.parameters.push_back(name);
    for (const auto& [name, module] : network.named_modules())
        names.modules.push_back(name);
    return names;
}

int64_t clock_offset(dist::ProcessGroup& group, const std::string& host, int64_t time) {
    const auto hosts = dist::all_gather_texts(group, host);
    const auto times = dist::all_gather_values<int64_t>(group, {time});
    return host == hosts[0] ? 0 : times[0].front() - time;
}

RankTrace trace_of(int rank, const std::vector<Event>& events, const EventNames& names,
                   int64_t offset) {
    RankTrace trace{.rank = rank, .offset = offset, .slices = {}, .moments = {}};
    EventReading reading(names, offset, trace);
    for (const Event& event : events) reading.read(event);
    std::ranges::stable_sort(trace.slices, [](const Slice& a, const Slice& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    return trace;
}

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
