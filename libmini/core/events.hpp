// The event log: what happened on this rank, in order, cheap enough to be always on.
//
// Tests read it to check behaviour that values cannot show: that a bucket was launched
// before the last gradient was ready, that there was one all-reduce per bucket and none
// inside no_sync, how many bytes a collective sent. One event costs under 100 ns
// (tests/core/events_test.cpp measures it). The log is a ring: when it is full, the
// oldest event makes room.

#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace mini {

/// What happened, and what an event's index, bytes and name then mean.
enum class EventKind : uint8_t {
    kForwardBegin,     // of a data-parallel module that trains
    kForwardEnd,       // and so the backward pass may begin
    kGradReady,        // index: parameter, bytes: its gradient's
    kBackwardEnd,      // all gradients of a synchronised pass are there
    kBucketReady,      // index: bucket, bytes: its payload
    kBucketLaunch,     // its all-reduce was handed to the communication thread
    kBucketDone,       // its all-reduce has finished
    kCollectiveBegin,  // name: the operation, index: sequence number, bytes: payload
    kAlgorithm,        // name: what it ran, index: messages, bytes: sent by this rank
    kCollectiveEnd,    // bytes: sent by this rank
};

/// "bucket_launch" for kBucketLaunch, and so on.
std::string_view event_name(EventKind kind);

/// One thing that happened on a rank, and when.
struct Event {
    int64_t nanoseconds = 0;  // on the monotonic clock
    EventKind kind = EventKind::kGradReady;
    int64_t index = 0;
    int64_t bytes = 0;
    const char* name = "";  // a literal, or any string that outlives the log
};

/// The events of one rank. Thread-safe.
class EventLog {
  public:
    explicit EventLog(size_t capacity = 65536);

    /// Appends an event with the present time.
    void record(EventKind kind, int64_t index = 0, int64_t bytes = 0,
                const char* name = "");

    /// All events still held, oldest first.
    std::vector<Event> snapshot() const;

    /// Events of one kind, oldest first.
    std::vector<Event> snapshot(EventKind kind) const;

    void clear();

  private:
    mutable std::mutex mutex_;
    std::vector<Event> ring_;  // grows up to capacity_, then wraps
    size_t capacity_;
    size_t next_ = 0;  // where the next event goes
};

}  // namespace mini
