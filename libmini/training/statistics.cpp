#include "libmini/training/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::training {
namespace {

constexpr double kSecond = 1e9;  // nanoseconds

double between(int64_t begin, int64_t end) { return static_cast<double>(end - begin); }

// The all-reduce of a bucket in one iteration. A time is 0 until its event is read.
struct Reduction {
    int64_t bucket = 0, bytes = 0;
    int64_t ready = 0, begin = 0, end = 0;
};

// Reads the log event by event; counts an iteration at the end of its backward pass.
class Reading {
  public:
    void read(const Event& event) {
        switch (event.kind) {
            case EventKind::kForwardBegin: forward_begin_ = event.nanoseconds; break;
            case EventKind::kForwardEnd: end_forward(event); break;
            case EventKind::kGradReady: ready_[event.index] = event; break;
            case EventKind::kBackwardEnd: end_backward(event); break;
            case EventKind::kBucketDone: end_buckets(event); break;
            default: count_sent(event); follow_bucket(event);
        }
    }
    TrainingStatistics means() const;

  private:
    void end_forward(const Event& event) {
        forward_end_ = event.nanoseconds;
        ready_.clear();
    }
    void count_sent(const Event& event) {
        if (event.kind == EventKind::kBucketLaunch) ++in_flight_;
        if (event.kind == EventKind::kCollectiveEnd && in_flight_ > 0)
            sums_.sent_bytes += static_cast<double>(event.bytes);
    }
    // Handles the events of a bucket until the end of its all-reduce. Collectives begin
    // and end in the order of their launches; a collective that no bucket waits for is
    // not counted.
    void follow_bucket(const Event& event) {
        // [lab20.7] Enter a launched bucket in reductions_, and then its two times.
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
        // [lab20.7]
    }
    void end_backward(const Event& event) {
        backward_end_ = event.nanoseconds;
        waiting_end_ = backward_end_;
        ++sums_.iterations;
        if (forward_end_ == 0) return;  // the log begins after this forward pass
        sums_.forward += between(forward_begin_, forward_end_);
        sums_.backward += between(forward_end_, backward_end_);
        sums_.compute.push_back(between(forward_begin_, backward_end_) / kSecond);
        // A parameter that is used twice has two events; the last one counts.
        for (const auto& [parameter, ready] : ready_) {
            auto& [sum, count] = gradients_[parameter];
            ++count;
            sum.bytes = ready.bytes;
            sum.ready += between(forward_end_, ready.nanoseconds);
        }
        backward_begin_ = std::exchange(forward_end_, 0);
    }
    // Handles kBucketDone. A backward pass has one such event per bucket; at the last
    // event, all reductions have ended.
    void end_buckets(const Event& event) {
        sums_.waiting += between(waiting_end_, event.nanoseconds);
        waiting_end_ = event.nanoseconds;
        if (in_flight_ > 0) --in_flight_;
        for (const Reduction& reduction : reductions_) {
            if (reduction.end == 0) continue;
            sums_.communication += between(reduction.begin, reduction.end);
            sums_.hidden += std::max(
                0.0, between(reduction.begin, std::min(reduction.end, backward_end_)));
            add_bucket(reduction);
        }
        std::erase_if(reductions_, [](const Reduction& one) { return one.end != 0; });
    }
    void add_bucket(const Reduction& reduction) {
        if (reduction.ready < backward_begin_ || backward_begin_ == 0) return;
        auto& [sum, count] = buckets_[reduction.bucket];
        if (sum.bytes != reduction.bytes) {  // rebuilt
            sum = {.bytes = reduction.bytes};
            count = 0;
        }
        ++count;
        sum.ready += between(backward_begin_, reduction.ready);
        sum.begin += between(backward_begin_, reduction.begin);
        sum.end += between(backward_begin_, reduction.end);
    }

    // Sums of times in nanoseconds: over all iterations, and over `count` iterations each
    // by parameter and by bucket.
    template <typename Times>
    struct Counted {
        Times sum;
        double count = 0;
    };
    TrainingStatistics sums_;
    std::map<int64_t, Counted<GradientTime>> gradients_;
    std::map<int64_t, Counted<BucketTime>> buckets_;

    int64_t forward_begin_ = 0, forward_end_ = 0;
    std::map<int64_t, Event> ready_;   // since the end of forward, by parameter
    std::map<int64_t, int64_t> full_;  // when each bucket was last ready
    std::vector<Reduction> reductions_;
    int64_t in_flight_ = 0;  // buckets that are launched and not done
    int64_t backward_begin_ = 0, backward_end_ = 0, waiting_end_ = 0;
};

TrainingStatistics Reading::means() const {
    if (sums_.iterations == 0) return {};
    TrainingStatistics means = sums_;
    const auto iterations = static_cast<double>(sums_.iterations);
    for (double* const time :
         {&means.forward, &means.backward, &means.communication, &means.waiting})
        *time = *time / iterations / kSecond;
    means.sent_bytes /= iterations;
    if (sums_.communication > 0) means.hidden /= sums_.communication;
    for (auto [parameter, each] : gradients_) {
        each.sum.ready = each.sum.ready / each.count / kSecond;
        means.gradients.push_back(each.sum);
    }
    std::ranges::stable_sort(means.gradients, {}, &GradientTime::ready);
    for (auto [bucket, each] : buckets_) {
        for (double* const time : {&each.sum.ready, &each.sum.begin, &each.sum.end})
            *time = *time / each.count / kSecond;
        means.buckets.push_back(each.sum);
    }
    return means;
}

}  // namespace

TrainingStatistics training_statistics(const std::vector<Event>& events) {
    Reading reading;
    for (const Event& event : events) reading.read(event);
    return reading.means();
}

}  // namespace mini::training
