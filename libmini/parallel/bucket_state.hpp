// The state that a communication hook keeps for each bucket from step to step.

#pragma once

#include <cstddef>
#include <map>

#include "libmini/parallel/comm_hooks.hpp"

namespace mini::parallel {

/// Maps buckets to values of type State. DDP rebuilds its buckets after the first
/// iteration: then an index has another buffer and other gradients, and needs a new state.
template <typename State>
class BucketStates {
  public:
    /// Returns the state of `bucket`. The state is make(bucket) in the first step, and
    /// again in the first step after the bucket was rebuilt. The reference stays valid
    /// until then.
    template <typename Make>
    State& of(const GradBucket& bucket, const Make& make) {
        Entry& entry = entries_[bucket.index];
        if (!entry.buffer.defined() || !entry.buffer.shares_storage(bucket.buffer))
            entry = {.buffer = bucket.buffer, .state = make(bucket)};
        return entry.state;
    }

  private:
    struct Entry {
        Tensor buffer;  // keeps the storage alive, so that no other bucket can have it
        State state;
    };
    std::map<size_t, Entry> entries_;  // by index
};

}  // namespace mini::parallel
