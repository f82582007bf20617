// Point-to-point messages: around a ring, in batches, from any source, and beside
// collectives. Also many small collectives, in a row or in flight.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

struct Message {
    DType dtype;
    int64_t n;
    Layout layout;

    Bytes from(int rank, int number = 0) const {
        return share(dtype, n, ReduceOp::kSum, rank, number);
    }
};

constexpr int kNoSender = 99;  // not a rank: fills tensors that a recv must overwrite

int right_of(const CaseContext& context) {
    return (context.rank() + 1) % context.world_size();
}
int left_of(const CaseContext& context) {
    return (context.rank() + context.world_size() - 1) % context.world_size();
}

// Sends to the right neighbour and receives from the left neighbour. Rank 0 sends first
// and the other ranks receive first; in the background, a rank starts both at once.
void ring_shift(const CaseContext& context, const Message& m) {
    const GuardedTensor out(m.dtype, m.from(context.rank()), m.layout);
    const GuardedTensor in(m.dtype, m.from(kNoSender), m.layout);
    const int right = right_of(context), left = left_of(context);
    ProcessGroup& group = context.group;
    int source = -1;
    if (context.in_background) {
        const auto sent = group.send_async(out.tensor(), right, 5);
        const auto received = group.recv_async(in.tensor(), left, 5);
        received->wait();
        sent->wait();
        source = received->source_rank();
    } else if (context.rank() == 0) {
        group.send(out.tensor(), right, 5);
        source = group.recv(in.tensor(), left, 5);
    } else {
        source = group.recv(in.tensor(), left, 5);
        group.send(out.tensor(), right, 5);
    }
    MINI_CHECK(source == left, "the message came from rank ", source, ", not rank ",
               left);
    check_equal(in.bytes(), m.from(left), m.dtype, "the received tensor");
    check_equal(out.bytes(), m.from(context.rank()), m.dtype, "the sent tensor");
}

// Sends two messages, with tags 0 and 1, to every other rank. Posts the receives in
// reverse order.
void batch(const CaseContext& context, const Message& m) {
    std::vector<GuardedTensor> outs, ins;
    std::vector<WorkHandle> works;
    std::vector<std::pair<int, int>> expected;  // rank, number
    for (int peer = 0; peer < context.world_size(); ++peer) {
        if (peer == context.rank()) continue;
        for (const int number : {0, 1}) {
            outs.emplace_back(m.dtype, m.from(context.rank(), number), m.layout);
            works.push_back(context.group.send_async(outs.back().tensor(), peer,
                                                     static_cast<uint64_t>(number)));
        }
    }
    for (int peer = context.world_size() - 1; peer >= 0; --peer) {
        if (peer == context.rank()) continue;
        for (const int number : {1, 0}) {
            ins.emplace_back(m.dtype, m.from(kNoSender), m.layout);
            expected.emplace_back(peer, number);
            works.push_back(context.group.recv_async(ins.back().tensor(), peer,
                                                     static_cast<uint64_t>(number)));
        }
    }
    for (const WorkHandle& work : works) work->wait();
    for (size_t i = 0; i < ins.size(); ++i)
        check_equal(
            ins[i].bytes(), m.from(expected[i].first, expected[i].second), m.dtype,
            concat("message ", expected[i].second, " of rank ", expected[i].first));
}

// Sends a message from every other rank to rank 0, which receives from any source, while
// an all_reduce is in flight.
void from_any_source(const CaseContext& context, const Message& m) {
    ProcessGroup& group = context.group;
    const GuardedTensor sum(DType::kInt64,
                            share(DType::kInt64, 99, ReduceOp::kSum, context.rank()),
                            Layout::kDense);
    const auto reduction_work = group.all_reduce_async(sum.tensor());
    std::vector<bool> received(static_cast<size_t>(context.world_size()));
    if (context.rank() != 0) {
        const GuardedTensor out(m.dtype, m.from(context.rank()), m.layout);
        group.send(out.tensor(), 0, 9);
    } else {
        for (int i = 1; i < context.world_size(); ++i) {
            const GuardedTensor in(m.dtype, m.from(kNoSender), m.layout);
            const int source = group.recv(in.tensor(), -1, 9);
            check_equal(in.bytes(), m.from(source), m.dtype,
                        concat("the message of rank ", source));
            MINI_CHECK(!received[static_cast<size_t>(source)], "rank ", source,
                       " was received twice");
            received[static_cast<size_t>(source)] = true;
        }
    }
    reduction_work->wait();
    check_equal(sum.bytes(),
                reduction(DType::kInt64, 99, ReduceOp::kSum, context.world_size()),
                DType::kInt64, "the sum");
}

// Runs `count` all_reduces in a row on the same tensor.
void many_small(const CaseContext& context, int count) {
    Tensor ones = Tensor::ones({3}, DType::kInt64);
    for (int i = 0; i < count; ++i) {
        context.group.all_reduce(ones, i % 2 ? ReduceOp::kMax : ReduceOp::kMin);
        if (i % 100 == 0) context.group.barrier();
    }
    MINI_CHECK(ones.to_vector<int64_t>() == std::vector<int64_t>(3, 1), "wrong maximum");
}

void many_in_flight(const CaseContext& context, int64_t count) {
    std::vector<Tensor> tensors;
    std::vector<WorkHandle> works;
    for (int64_t i = 0; i < count; ++i) {
        tensors.push_back(Tensor::full({i % 5}, static_cast<double>(i), DType::kInt64));
        works.push_back(context.group.all_reduce_async(tensors.back()));
    }
    for (int64_t i = count - 1; i >= 0; --i) {
        const auto k = static_cast<size_t>(i);
        works[k]->wait();
        const std::vector<int64_t> expected(static_cast<size_t>(i % 5),
                                            i * context.world_size());
        MINI_CHECK(tensors[k].to_vector<int64_t>() == expected, "wrong sum ", i);
    }
}

// Reduces every size from 0 to 300, so that chunks of all small sizes occur.
void every_size(const CaseContext& context) {
    for (int64_t n = 0; n <= 300; ++n) {
        const GuardedTensor data(DType::kUInt8,
                                 share(DType::kUInt8, n, ReduceOp::kSum, context.rank()),
                                 Layout::kDense);
        context.group.all_reduce(data.tensor());
        check_equal(data.bytes(),
                    reduction(DType::kUInt8, n, ReduceOp::kSum, context.world_size()),
                    DType::kUInt8, concat("the sum of ", n));
    }
}

}  // namespace

void add_points(std::vector<Case>& cases, const Scope& scope) {
    if (scope.world_size == 1) return;
    using Body = void (*)(const CaseContext&, const Message&);
    const auto add = [&](const char* name, Body body, const Message& m) {
        cases.push_back(
            {case_name(Operation::kSend, m.dtype, m.n, m.layout, concat(", ", name)),
             [m, body](const CaseContext& context) { body(context, m); }});
    };
    for (const DType dtype : kTypes)
        for (const int64_t n : kSizes)
            for (const Layout layout : {Layout::kDense, Layout::kEveryOther}) {
                add("round", ring_shift, {dtype, n, layout});
                add("batch", batch, {dtype, n, layout});
                add("from any source", from_any_source, {dtype, n, layout});
            }
    add("round", ring_shift, {DType::kFloat32, kLarge, Layout::kDense});
    add("batch", batch, {DType::kUInt8, kLarge, Layout::kDense});
}

// Gloo takes 2 ms for each: a library's own speed and chunks are not ours to test.
void add_crowds(std::vector<Case>& cases, const Scope& scope) {
    const auto add = [&cases](const std::string& name, auto body, int count) {
        cases.push_back({concat(count, name),
                         [=](const CaseContext& context) { body(context, count); }});
    };
    add(" small all_reduces in a row", many_small, scope.ours ? 2000 : 200);
    add(" all_reduces in flight", many_in_flight, scope.ours ? 1000 : 100);
    if (scope.ours) cases.push_back({"all_reduce of every size to 300", every_size});
}

}  // namespace mini::dist::suite
