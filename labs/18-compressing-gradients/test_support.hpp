// Helpers for the checks of lab 18: hooks that are called without DDP, on groups that
// record the calls.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/ranks.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/core/error.hpp"
#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/power_sgd.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab18 {

using labs::about;
using labs::in_words;
using labs::Journal;
using labs::on_ranks;
using labs::Values;
using labs::values_of;
using labs::WatchedGroup;
using parallel::CommHook;
using parallel::FinishHook;
using parallel::GradBucket;

// A bucket whose gradients are views of its buffer, as DDP makes it.
class TestBucket {
  public:
    explicit TestBucket(const std::vector<Shape>& shapes, size_t index = 0) {
        int64_t size = 0;
        for (const Shape& shape : shapes) size += element_count(shape);
        bucket.index = index;
        bucket.is_last = true;
        bucket.buffer = Tensor::zeros({size});
        int64_t start = 0;
        for (const Shape& shape : shapes) {
            const int64_t n = element_count(shape);
            bucket.gradients.push_back(
                ops::view(ops::narrow(bucket.buffer, 0, start, n), shape));
            start += n;
        }
        bucket.parameters = bucket.gradients;
    }

    // A new backward pass: sets the gradients.
    void set(const Values& values) {
        ops::copy_(bucket.buffer, Tensor::from(values));
        if (bucket.sent.defined()) ops::copy_(bucket.sent, bucket.buffer);
    }

    // Calls `hook` and returns its function. As in DDP, the hook's argument is of no use
    // when this function is called: it has other tensors by then.
    FinishHook start(const CommHook& hook, dist::ProcessGroup& group) const {
        const auto argument = std::make_shared<GradBucket>(bucket);
        const FinishHook finish = hook(*argument, group);
        MINI_CHECK(finish, "the hook returned no function that finishes the bucket");
        argument->buffer = Tensor::full(bucket.buffer.shape(), kOther);
        if (bucket.sent.defined())
            argument->sent = Tensor::full(bucket.sent.shape(), kSent);
        return [argument, finish] {
            finish();
            MINI_CHECK(
                is_all(argument->buffer, kOther) && is_all(argument->sent, kSent),
                "the function that the hook returned has written to the hook's argument "
                "`bucket`, which exists only during the hook's call: capture a copy, "
                "`bucket` and not `&bucket`, or copies of its tensors");
        };
    }

    Values values() const { return values_of({bucket.buffer}); }
    Values sent() const { return values_of({bucket.sent}); }

    GradBucket bucket;

  private:
    static constexpr float kOther = 7, kSent = 8;

    static bool is_all(const Tensor& x, float value) {
        return !x.defined() ||
               std::ranges::all_of(values_of({x}), [=](float y) { return y == value; });
    }
};

inline std::string in_words(const Values& values) {
    return labs::rows_of(values, static_cast<int64_t>(values.size()));
}

// Returns n numbers in [-1, 1).
inline Values draw(int64_t n, uint64_t seed) {
    return values_of({labs::draw({n}, seed)});
}

inline double largest_difference(const Values& a, const Values& b) {
    double largest = a.size() == b.size() ? 0.0 : INFINITY;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
        if (!(difference <= largest)) largest = difference;  // even if it is NaN
    }
    return largest;
}

// Returns a journal without the op of its all-reduces: whether a hook divides before an
// all-reduce or takes its average is its own choice.
inline Journal without_op(Journal journal) {
    for (std::string& line : journal)
        if (const size_t at = line.find("avg "); at != std::string::npos)
            line.erase(at, 4);
    return journal;
}

// Returns the dot product of the columns a and b of x (n, r).
inline double dot(const Values& x, size_t r, size_t a, size_t b) {
    double sum = 0.0;
    for (size_t row = 0; row < x.size(); row += r)
        sum += static_cast<double>(x[row + a]) * x[row + b];
    return sum;
}

inline const parallel::PowerSGDOptions kRankTwo{.matrix_approximation_rank = 2,
                                                .start_powerSGD_iter = 0,
                                                .min_compression_rate = 0.1,
                                                .use_error_feedback = false,
                                                .warm_start = false};

// What one step of a hook did on one rank.
struct Step {
    Journal starting;  // the calls before the hook returned
    Journal finishing;
    std::vector<Values> payloads;  // of the starts
    Values result;
    Values sent;  // if it was asked for
};

// Runs the hook once on a bucket of one gradient.
inline Step run_once(const CommHook& hook, dist::ProcessGroup& group,
                     const Values& values, bool ask_sent = false) {
    WatchedGroup watched(group);
    TestBucket test({{static_cast<int64_t>(values.size())}}, 0);
    if (ask_sent) test.bucket.sent = Tensor::zeros(test.bucket.buffer.shape());
    test.set(values);
    Step step;
    const auto finish = test.start(hook, watched);
    step.starting = watched.journal;
    finish();
    step.finishing = {
        watched.journal.begin() + static_cast<int64_t>(step.starting.size()),
        watched.journal.end()};
    step.payloads = watched.payloads;
    step.result = test.values();
    if (ask_sent) step.sent = test.sent();
    return step;
}

}  // namespace mini::lab18
