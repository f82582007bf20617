#include "libmini/training/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "libmini/core/error.hpp"

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

// The all-reduce of a bucket in one iteration. A time is 0 until its event is read.
struct Reduction {
    int64_t bucket = 0, bytes = 0;
    int64_t ready = 0, begin = 0, end = 0;
};

// The times of one bucket. `ready`, `begin` and `end` are sums, over `count` iterations,
// of nanoseconds since the end of forward.
struct Buckets {
    int64_t bytes = 0, count = 0, ready = 0, begin = 0, end = 0;
};

// Sums over all iterations; times are in nanoseconds.
struct Totals {
    int64_t iterations = 0;
    int64_t forward = 0, backward = 0, communication = 0, waiting = 0, hidden = 0;
    int64_t sent_bytes = 0;
    std::map<int64_t, Gradients> gradients;  // by parameter
    std::map<int64_t, Buckets> buckets;      // by bucket
    std::vector<int64_t> compute;            // forward and backward of each iteration
};

// Reads the log event by event; counts an iteration at the end of its backward pass.
class Reading {
  public:
    void read(const Event& event) {
        switch (event.kind) {
            case EventKind::kForwardBegin: forward_ = {event.nanoseconds, 0}; break;
            case EventKind::kForwardEnd: end_forward(event); break;
            case EventKind::kGradReady: ready_[event.index] = event; break;
            case EventKind::kBackwardEnd: end_backward(event); break;
            case EventKind::kBucketDone: end_buckets(event); break;
            default: count_sent(event); follow_bucket(event);
        }
    }
    const Totals& totals() const { return totals_; }

  private:
    void end_forward(const Event& event) {
        forward_.end = event.nanoseconds;
        ready_.clear();
    }
    void count_sent(const Event& event) {
        if (event.kind == EventKind::kBucketLaunch) ++in_flight_;
        if (event.kind == EventKind::kCollectiveEnd && in_flight_ > 0)
            totals_.sent_bytes += event.bytes;
    }
    // Handles the events of a bucket until the end of its all-reduce. Collectives begin
    // and end in the order of their launches; a collective that no bucket waits for is
    // not counted.
    void follow_bucket(const Event& event) {
        // [lab20.4] Enter a launched bucket in reductions_, and then its two times.
        const auto next = std::ranges::find(reductions_, 0, &Reduction::begin);
        const auto open = std::ranges::find(reductions_, 0, &Reduction::end);
        if (event.kind == EventKind::kBucketReady) full_[event.index] = event.nanoseconds;
        if (event.kind == EventKind::kBucketLaunch)
            reductions_.push_back({.bucket = event.index,
                                   .bytes = event.bytes,
                                   .ready = full_[event.index]});
        if (event.kind == EventKind::kCollectiveBegin && next != reductions_.end())
            next->begin = event.nanoseconds;
        if (event.kind == EventKind::kCollectiveEnd && open != next)
            open->end = event.nanoseconds;
        // [lab20.4]
    }
    void end_backward(const Event& event) {
        backward_end_ = event.nanoseconds;
        waiting_end_ = backward_end_;
        ++totals_.iterations;
        if (forward_.end == 0) return;  // the log begins after this forward pass
        totals_.forward += forward_.length();
        totals_.backward += backward_end_ - forward_.end;
        totals_.compute.push_back(backward_end_ - forward_.begin);
        // A parameter that is used twice has two events; the last one counts.
        for (const auto& [parameter, ready] : ready_) {
            Gradients& all = totals_.gradients[parameter];
            all.bytes = ready.bytes;
            ++all.count;
            all.ready += ready.nanoseconds - forward_.end;
        }
        backward_begin_ = forward_.end;
        forward_ = {};
    }
    // Handles kBucketDone. A backward pass has one such event per bucket; at the last
    // event, all reductions have ended.
    void end_buckets(const Event& event) {
        totals_.waiting += event.nanoseconds - waiting_end_;
        waiting_end_ = event.nanoseconds;
        if (in_flight_ > 0) --in_flight_;
        for (const Reduction& reduction : reductions_) {
            if (reduction.end == 0) continue;
            totals_.communication += reduction.end - reduction.begin;
            totals_.hidden += std::max<int64_t>(
                0, std::min(reduction.end, backward_end_) - reduction.begin);
            add_bucket(reduction);
        }
        std::erase_if(reductions_, [](const Reduction& one) { return one.end != 0; });
    }
    void add_bucket(const Reduction& reduction) {
        if (reduction.ready < backward_begin_ || backward_begin_ == 0) return;
        Buckets& all = totals_.buckets[reduction.bucket];
        if (all.bytes != reduction.bytes) all = {.bytes = reduction.bytes};  // rebuilt
        ++all.count;
        all.ready += reduction.ready - backward_begin_;
        all.begin += reduction.begin - backward_begin_;
        all.end += reduction.end - backward_begin_;
    }

    Totals totals_;
    Span forward_;
    std::map<int64_t, Event> ready_;   // since the end of forward, by parameter
    std::map<int64_t, int64_t> full_;  // when each bucket was last ready
    std::vector<Reduction> reductions_;
    int64_t in_flight_ = 0;  // buckets that are launched and not done
    int64_t backward_begin_ = 0, backward_end_ = 0, waiting_end_ = 0;
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

std::vector<BucketTime> bucket_times(const std::map<int64_t, Buckets>& buckets) {
    std::vector<BucketTime> times;
    for (const auto& [bucket, all] : buckets)
        times.push_back({.bytes = all.bytes,
                         .ready = share(all.ready, all.count) / 1e9,
                         .begin = share(all.begin, all.count) / 1e9,
                         .end = share(all.end, all.count) / 1e9});
    return times;
}

std::vector<double> in_seconds(const std::vector<int64_t>& nanoseconds) {
    std::vector<double> seconds;
    for (const int64_t each : nanoseconds)
        seconds.push_back(static_cast<double>(each) / 1e9);
    return seconds;
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
            .gradients = gradient_times(totals.gradients),
            .buckets = bucket_times(totals.buckets),
            .compute = in_seconds(totals.compute)};
}

}  // namespace mini::training
