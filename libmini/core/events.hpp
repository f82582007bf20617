// The event log: records what happens on this rank, in order; cheap enough to be always on.
//
// Tests read it to check behaviour that result values do not show: that a bucket was launched
// before the last gradient was ready, how many bytes a collective sent. Recording one event
// takes less than 100 ns (tests/core/events_test.cpp measures it). When the log is full, a new
// event overwrites the oldest.

#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace mini {

/// The kind of an event. The comments give the meaning of its index, bytes and name.
enum class EventKind : uint8_t {
    kForwardBegin,     // a data-parallel module in training mode begins its forward pass
    kForwardEnd,       // the forward pass has ended; the backward pass may begin
    kModuleBegin,      // a submodule begins its forward pass; index: named_modules()
    kModuleEnd,        // index: as kModuleBegin
    kGradReady,        // index: parameter, bytes: size of its gradient
    kBackwardEnd,      // all gradients of a synchronised backward pass are ready
    kBucketReady,      // index: bucket, bytes: its payload
    kBucketLaunch,     // its all-reduce was queued; index, bytes: as kBucketReady
    kBucketDone,       // the bucket's all-reduce has completed
    kGatherLaunch,     // the gather of a unit was queued; index: unit, bytes: gathered
    kGatherDone,       // the unit's parameters have their values; as kGatherLaunch
    kUnitFree,         // they are freed; as kGatherLaunch
    kReduceLaunch,     // the reduce-scatter of a unit's gradients was queued; bytes: all
    kReduceDone,       // it has completed; index, bytes: as kReduceLaunch
    kCollectiveBegin,  // name: the operation, index: sequence number, bytes: payload
    kCollectiveEnd,    // as kCollectiveBegin, but bytes: sent; messages, algorithm
    kSpanBegin,        // name: part of a training step, index: its number (EventSpan)
    kSpanEnd,          // name, index: as kSpanBegin
};

/// One event on a rank, with its time.
struct Event {
    int64_t nanoseconds = 0;  // of the monotonic clock
    EventKind kind = EventKind::kGradReady;
    int64_t index = 0;
    int64_t bytes = 0;
    const char* name = "";  // a string literal, or a string that outlives the log
    int64_t messages = 0;   // sent; like bytes and algorithm 0 of a collective on a GPU
    const char* algorithm = "";
};

/// The events of one rank. Thread-safe.
class EventLog {
  public:
    explicit EventLog(size_t capacity = 65536);

    /// Appends an event with the current time, and returns its nanoseconds.
    int64_t record(EventKind kind, int64_t index = 0, int64_t bytes = 0,
                   const char* name = "", int64_t messages = 0,
                   const char* algorithm = "");

    /// Returns all events in the log, oldest first.
    std::vector<Event> snapshot() const;

    /// Returns the events of one kind, oldest first.
    std::vector<Event> snapshot(EventKind kind) const;

    /// Returns the events that were recorded after the first `position` events of this
    /// log's life, oldest first, without those that have been overwritten or cleared;
    /// advances `position` to the end of the log.
    std::vector<Event> since(uint64_t& position) const;

    void clear();

  private:
    mutable std::mutex mutex_;
    std::vector<Event> ring_;  // grows up to capacity_, then wraps
    size_t capacity_;
    size_t next_ = 0;        // where ring_ stores the next event
    uint64_t recorded_ = 0;  // events since the log was constructed
};

/// Records kSpanBegin now and kSpanEnd at the end of the scope. Does nothing if `log` is
/// null. REQUIRES: `name` is a string literal.
class EventSpan {
  public:
    EventSpan(EventLog* log, const char* name, int64_t index = 0)
        : log_(log), name_(name), index_(index) {
        if (log_ != nullptr) log_->record(EventKind::kSpanBegin, index_, 0, name_);
    }
    ~EventSpan() {
        if (log_ != nullptr) log_->record(EventKind::kSpanEnd, index_, 0, name_);
    }
    EventSpan(const EventSpan&) = delete;
    EventSpan& operator=(const EventSpan&) = delete;

  private:
    EventLog* log_;
    const char* name_;
    int64_t index_;
};

}  // namespace mini
