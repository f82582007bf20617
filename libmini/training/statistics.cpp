#include "libmini/training/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace mini::training {
namespace {

struct Span {
    int64_t begin = 0;
    int64_t end = 0;

    int64_t length() const { return end - begin; }
};

// The gradients of one parameter. `ready` is the sum, over `count` iterations, of the
// nanoseconds from the end of forward until the gradient was ready.
struct Gradients {
    int64_t bytes = 0, count = 0, ready = 0;
};

// Sums over all iterations; times are in nanoseconds.
struct Totals {
    int64_t iterations = 0;
    int64_t forward = 0, backward = 0, communication = 0, waiting = 0, hidden = 0;
    int64_t sent_bytes = 0;
    std::map<int64_t, Gradients> gradients;  // by parameter
};

// Reads the log event by event; counts an iteration at the end of its backward pass.
class Reading {
  public:
    void read(const Event& event) {
        switch (event.kind) {
            case EventKind::kForwardBegin: forward_ = {event.nanoseconds, 0}; break;
            case EventKind::kForwardEnd: end_forward(event); break;
            case EventKind::kGradReady: ready_[event.index] = event; break;
            case EventKind::kBucketLaunch: ++launched_, ++in_flight_; break;
            case EventKind::kCollectiveBegin: begin_collective(event); break;
            case EventKind::kCollectiveEnd: end_collective(event); break;
            case EventKind::kBackwardEnd: end_backward(event); break;
            case EventKind::kBucketDone: end_buckets(event); break;
            default: break;
        }
    }
    const Totals& totals() const { return totals_; }

  private:
    void end_forward(const Event& event) {
        forward_.end = event.nanoseconds;
        ready_.clear();
    }
    void begin_collective(const Event& event) {
        if (launched_ == 0) return;  // not an all-reduce of a bucket
        --launched_;
        reductions_.push_back({event.nanoseconds, 0});
    }
    void end_collective(const Event& event) {
        const auto open = std::ranges::find(reductions_, 0, &Span::end);
        if (open != reductions_.end()) open->end = event.nanoseconds;
        if (in_flight_ > 0) totals_.sent_bytes += event.bytes;
    }
    void end_backward(const Event& event) {
        backward_end_ = event.nanoseconds;
        waiting_end_ = backward_end_;
        ++totals_.iterations;
        if (forward_.end == 0) return;  // the log begins after this forward pass
        totals_.forward += forward_.length();
        totals_.backward += backward_end_ - forward_.end;
        // A parameter that is used twice has two events; the last one counts.
        for (const auto& [parameter, ready] : ready_) {
            Gradients& all = totals_.gradients[parameter];
            all.bytes = ready.bytes;
            ++all.count;
            all.ready += ready.nanoseconds - forward_.end;
        }
        forward_ = {};
    }
    // Handles kBucketDone. A backward pass has one such event per bucket; at the last
    // event, all reductions have ended.
    void end_buckets(const Event& event) {
        totals_.waiting += event.nanoseconds - waiting_end_;
        waiting_end_ = event.nanoseconds;
        if (in_flight_ > 0) --in_flight_;
        for (const Span& span : reductions_) {
            if (span.end == 0) continue;
            totals_.communication += span.length();
            totals_.hidden +=
                std::max<int64_t>(0, std::min(span.end, backward_end_) - span.begin);
        }
        std::erase_if(reductions_, [](const Span& span) { return span.end != 0; });
    }

    Totals totals_;
    Span forward_;
    std::map<int64_t, Event> ready_;  // since the end of forward, by parameter
    int64_t launched_ = 0;            // buckets whose all-reduce has not begun
    int64_t in_flight_ = 0;           // buckets that are launched and not done
    std::vector<Span> reductions_;
    int64_t backward_end_ = 0, waiting_end_ = 0;
};

Totals totals_of(const std::vector<Event>& events) {
    Reading reading;
    for (const Event& event : events) reading.read(event);
    return reading.totals();
}

double share(int64_t part, int64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<GradientTime> gradient_times(const std::map<int64_t, Gradients>& gradients) {
    std::vector<GradientTime> times;
    for (const auto& [parameter, all] : gradients)
        times.push_back({.bytes = all.bytes, .ready = share(all.ready, all.count) / 1e9});
    std::ranges::stable_sort(times, {}, &GradientTime::ready);
    return times;
}

}  // namespace

TrainingStatistics training_statistics(const std::vector<Event>& events) {
    const Totals totals = totals_of(events);
    const auto mean = [&](int64_t nanoseconds) {
        return share(nanoseconds, totals.iterations) / 1e9;
    };
    return {.iterations = totals.iterations,
            .forward = mean(totals.forward),
            .backward = mean(totals.backward),
            .communication = mean(totals.communication),
            .waiting = mean(totals.waiting),
            .hidden = share(totals.hidden, totals.communication),
            .sent_bytes = share(totals.sent_bytes, totals.iterations),
            .gradients = gradient_times(totals.gradients)};
}

double hidden_communication(const std::vector<Event>& events) {
    return training_statistics(events).hidden;
}

}  // namespace mini::training
