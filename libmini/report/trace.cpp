#include "libmini/report/trace.hpp"

#include <algorithm>
#include <deque>
#include <string_view>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

// Reads the events of one rank. The main thread's events make the compute lane, those of
// collectives the other lane.
class EventReading {
  public:
    EventReading(const std::vector<std::string>& parameters, int64_t offset,
                 RankTrace& trace)
        : parameters_(parameters), offset_(offset), trace_(trace) {}

    void read(const Event& event) {
        const int64_t now = event.nanoseconds + offset_;
        switch (event.kind) {
            case EventKind::kSpanBegin: open_.push_back(slice(event, now)); break;
            case EventKind::kSpanEnd: close(event, now); break;
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
    static Slice slice(const Event& event, int64_t now) {
        const bool is_step = std::string_view(event.name) == "step";
        return {.name = event.name, .begin = now, .step = is_step ? event.index : -1};
    }

    // Adds a slice of the compute lane, if its begin is known.
    void add(const std::string& name, int64_t begin, int64_t end) {
        const bool is_inside = !open_.empty() && begin >= open_.back().begin;
        if (is_inside)
            trace_.slices.push_back({.name = name, .begin = begin, .end = end});
    }

    // Ends the innermost span; the events begin or end within others, which are dropped.
    void close(const Event& event, int64_t now) {
        if (open_.empty() || open_.back().name != event.name) return open_.clear();
        Slice done = open_.back();
        if (done.name == "backward") {
            end_layer();
            add("waiting", backward_end_, now);
        }
        open_.pop_back();
        done.end = now;
        trace_.slices.push_back(done);
    }

    std::string parameter(int64_t index) const {
        const auto i = static_cast<size_t>(index);
        return i < parameters_.size() ? parameters_[i] : concat("parameter ", index);
    }

    // A layer's part of backward lasts from the previous layer's last gradient to its own
    // last gradient.
    void gradient(const Event& event, int64_t now) {
        const std::string name = parameter(event.index);
        trace_.moments.push_back(
            {.name = "gradient ready " + name, .time = now, .bytes = event.bytes});
        if (open_.empty() || open_.back().name != "backward") return;
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
        trace_.moments.push_back({.name = concat("bucket ", event.index, " launched"),
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

    const std::vector<std::string>& parameters_;
    int64_t offset_;
    RankTrace& trace_;
    std::vector<Slice> open_;  // spans of the main thread, the innermost last
    int64_t network_ = -1, backward_end_ = -1;
    std::string layer_;  // whose gradients are becoming ready, or ""
    int64_t layer_begin_ = 0, layer_end_ = 0;
    std::deque<int64_t> launched_;  // buckets whose collective has not begun
    std::deque<Slice> running_;     // collectives that have not ended
    int64_t collective_end_ = 0;
};

}  // namespace

RankTrace trace_of(int rank, const std::vector<Event>& events,
                   const std::vector<std::string>& parameters, const ClockOffset& clock) {
    RankTrace trace{.rank = rank, .clock = clock, .slices = {}, .moments = {}};
    EventReading reading(parameters, clock.offset, trace);
    for (const Event& event : events) reading.read(event);
    std::ranges::stable_sort(trace.slices, [](const Slice& a, const Slice& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    return trace;
}

}  // namespace mini::report
