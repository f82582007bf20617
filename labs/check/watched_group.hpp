// A process group that records its calls, for the checks of the labs.
//
// WatchedGroup makes mistakes with asynchronous calls visible without a clock: it runs an
// operation only when its Work is waited for. Without a wait the operation never runs. If
// the operation's input has changed since the start, wait() throws. The member `journal`
// lists the starts and the waits in their order.

#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/journal.hpp"
#include "labs/check/values.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::labs {

/// Returns the values of all tensors; integers are converted to floats.
inline Values values_as_floats(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) tensor = ops::to(tensor, DType::kFloat32);
    return values_of(tensors);
}

/// Returns the values that an operation reads on a rank.
inline Values read_by(const dist::Call& call, int rank) {
    if (call.operation == dist::Operation::kBroadcast && call.root != rank) return {};
    return values_as_floats(call.inputs.empty() ? call.outputs : call.inputs);
}

class WatchedGroup : public dist::ProcessGroup {
  public:
    explicit WatchedGroup(dist::ProcessGroup& group) : group_(group) {}

    /// Lines are "start all_reduce 8" and "wait all_reduce 8", with the payload's bytes.
    /// An all-reduce that is not a sum also has its op, "start all_reduce avg 8", and a
    /// reduction its root, "start reduce 8 to 1".
    Journal journal;

    /// The values that this rank gave to each started operation.
    std::vector<Values> payloads;

    /// Returns the lines of the journal that start with `beginning`.
    Journal lines_with(const std::string& beginning) const {
        Journal found;
        for (const std::string& line : journal)
            if (line.starts_with(beginning)) found.push_back(line);
        return found;
    }

    int rank() const override { return group_.rank(); }
    int world_size() const override { return group_.world_size(); }
    std::string name() const override { return group_.name(); }
    std::vector<int> world_ranks() const override { return group_.world_ranks(); }
    std::string backend() const override { return group_.backend(); }
    std::chrono::milliseconds timeout() const override { return group_.timeout(); }
    EventLog& events() override { return group_.events(); }
    void shutdown() override { group_.shutdown(); }
    std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) override {
        return group_.new_group(ranks);
    }

    dist::WorkHandle start(dist::Call call) override {
        std::string name = dist::operation_name(call.operation);
        if (call.operation == dist::Operation::kAllReduce &&
            call.reduce_op != dist::ReduceOp::kSum)
            name += concat(' ', dist::reduce_op_name(call.reduce_op));
        name += concat(' ', dist::payload_bytes(call));
        if (call.operation == dist::Operation::kReduce) name += concat(" to ", call.root);
        journal.push_back("start " + name);
        payloads.push_back(read_by(call, rank()));
        return std::make_shared<LazyWork>(*this, std::move(call), name);
    }

  private:
    // Runs the operation in the first wait().
    class LazyWork : public dist::Work {
      public:
        LazyWork(WatchedGroup& watched, dist::Call call, std::string name)
            : watched_(watched),
              call_(std::move(call)),
              name_(std::move(name)),
              read_(read_by(call_, watched.rank())) {}
        bool is_completed() const override { return work_ != nullptr; }
        void wait() override {
            if (work_) return;
            watched_.journal.push_back("wait " + name_);
            // Compare bytes: a NaN is not equal to itself.
            const Values now = read_by(call_, watched_.rank());
            if (now.size() != read_.size() ||
                std::memcmp(now.data(), read_.data(), now.size() * sizeof(float)) != 0)
                throw Error(
                    concat("rank ", watched_.rank(), " has changed the tensor of ", name_,
                           " between the start and the wait: in between it belongs "
                           "to the operation"));
            work_ = watched_.group_.start(std::move(call_));
            work_->wait();
        }

      private:
        WatchedGroup& watched_;
        dist::Call call_;
        std::string name_;
        Values read_;
        dist::WorkHandle work_;
    };

    dist::ProcessGroup& group_;
};

/// Rank 0 of 5 ranks, all in one: the others have the tensors that this one has, so a
/// gather copies this rank's input, and other collectives have nothing to do. The memory of
/// other ranks is not counted.
class FiveInOne : public WatchedGroup {
  public:
    explicit FiveInOne(dist::ProcessGroup& alone) : WatchedGroup(alone), alone_(alone) {}
    int world_size() const override { return 5; }
    dist::WorkHandle start(dist::Call call) override {
        if (call.operation == dist::Operation::kAllGather)
            for (Tensor& output : call.outputs)
                if (!output.shares_storage(call.inputs.front()))
                    ops::copy_(output, call.inputs.front());
        return alone_.barrier_async();
    }

  private:
    dist::ProcessGroup& alone_;
};

}  // namespace mini::labs
