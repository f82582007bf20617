// Checks of a process group: the results of every operation on every dtype. All ranks of
// the group call each check. A check throws Error at the first wrong result.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/transport/tags.hpp"
#include "libmini/distributed/transport/transport.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/support.hpp"

namespace mini::dist::test {

/// Returns `n` small integers as the input of rank `rank`. The integers, and their sums
/// and products over four ranks, are exact in every dtype. Each `block` has its own
/// values.
inline std::vector<float> numbers_of(int rank, int64_t n, int block = 0) {
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i)
        values.push_back(static_cast<float>((rank + 2 * block + i) % 3 + 1));
    return values;
}

inline Tensor tensor_of(const std::vector<float>& values, DType dtype) {
    return ops::to(Tensor::from(values), dtype);
}

/// Returns the same numbers in a non-contiguous tensor: one column of a matrix with two.
inline Tensor strided_tensor_of(const std::vector<float>& values, DType dtype) {
    const auto n = static_cast<int64_t>(values.size());
    Tensor column = ops::select(ops::transpose(Tensor::zeros({n, 2}, dtype), 0, 1), 0, 0);
    ops::copy_(column, tensor_of(values, dtype));
    return column;
}

inline void expect(const Tensor& actual, const std::vector<float>& wanted,
                   const std::string& what) {
    const auto rounded = ops::to(tensor_of(wanted, actual.dtype()), DType::kFloat32);
    MINI_CHECK(
        ops::to(actual, DType::kFloat32).to_vector<float>() == rounded.to_vector<float>(),
        what, " of ", wanted.size(), " ", actual.dtype(), " is wrong");
}

inline std::vector<float> reduced(int world_size, int64_t n, ReduceOp op, int block = 0) {
    std::vector<float> result = numbers_of(0, n, block);
    for (int rank = 1; rank < world_size; ++rank) {
        const auto theirs = numbers_of(rank, n, block);
        for (size_t i = 0; i < theirs.size(); ++i) {
            float& mine = result[i];
            if (op == ReduceOp::kProduct) mine *= theirs[i];
            if (op == ReduceOp::kMin) mine = std::min(mine, theirs[i]);
            if (op == ReduceOp::kMax) mine = std::max(mine, theirs[i]);
            if (op == ReduceOp::kSum || op == ReduceOp::kAvg) mine += theirs[i];
        }
    }
    if (op == ReduceOp::kAvg)
        for (float& value : result) value /= static_cast<float>(world_size);
    return result;
}

inline std::vector<Tensor> zeros_for_ranks(int count, int64_t n, DType dtype) {
    std::vector<Tensor> tensors;
    for (int i = 0; i < count; ++i) tensors.push_back(Tensor::zeros({n}, dtype));
    return tensors;
}

inline std::vector<Tensor> blocks_of(int rank, int world_size, int64_t n, DType dtype) {
    std::vector<Tensor> tensors;
    for (int block = 0; block < world_size; ++block)
        tensors.push_back(tensor_of(numbers_of(rank, n, block), dtype));
    return tensors;
}

/// Checks all_reduce, reduce and reduce_scatter. If `strided`, also checks all_reduce of
/// a non-contiguous tensor, which is not supported on CUDA.
inline void check_reductions(ProcessGroup& group, int64_t n, DType dtype,
                             bool strided = true) {
    const int rank = group.rank(), P = group.world_size(), root = P - 1;
    const bool is_float = dtype != DType::kInt64 && dtype != DType::kUInt8;
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kProduct,
                              ReduceOp::kMin, ReduceOp::kMax}) {
        if (op == ReduceOp::kAvg && !is_float) continue;
        const std::string name = reduce_op_name(op);
        const Tensor x = tensor_of(numbers_of(rank, n), dtype);
        group.all_reduce(x, op);
        expect(x, reduced(P, n, op), "all_reduce " + name);

        const Tensor y = tensor_of(numbers_of(rank, n), dtype);
        group.reduce(y, root, op);
        if (rank == root) expect(y, reduced(P, n, op), "reduce " + name);

        const Tensor part = Tensor::zeros({n}, dtype);
        group.reduce_scatter(part, blocks_of(rank, P, n, dtype), op);
        expect(part, reduced(P, n, op, rank), "reduce_scatter " + name);

        if (!strided) continue;
        const Tensor z = strided_tensor_of(numbers_of(rank, n), dtype);
        group.all_reduce(z, op);
        expect(z, reduced(P, n, op), "all_reduce of a strided tensor, " + name);
    }
}

inline void check_moves(ProcessGroup& group, int64_t n, DType dtype) {
    const int rank = group.rank(), P = group.world_size();
    for (int root = 0; root < P; ++root) {
        const Tensor x = tensor_of(numbers_of(rank, n), dtype);
        group.broadcast(x, root);
        expect(x, numbers_of(root, n), "broadcast");

        const auto gathered = zeros_for_ranks(rank == root ? P : 0, n, dtype);
        group.gather(gathered, tensor_of(numbers_of(rank, n), dtype), root);
        for (size_t i = 0; i < gathered.size(); ++i)
            expect(gathered[i], numbers_of(static_cast<int>(i), n), "gather");

        const Tensor mine = Tensor::zeros({n}, dtype);
        group.scatter(mine, blocks_of(root, rank == root ? P : 0, n, dtype), root);
        expect(mine, numbers_of(root, n, rank), "scatter");
    }
    const auto all = zeros_for_ranks(P, n, dtype), swapped = zeros_for_ranks(P, n, dtype);
    group.all_gather(all, tensor_of(numbers_of(rank, n), dtype));
    group.all_to_all(swapped, blocks_of(rank, P, n, dtype));
    for (int peer = 0; peer < P; ++peer) {
        expect(all[static_cast<size_t>(peer)], numbers_of(peer, n), "all_gather");
        expect(swapped[static_cast<size_t>(peer)], numbers_of(peer, n, rank),
               "all_to_all");
    }
    group.barrier();
}

inline void check_messages(ProcessGroup& group, int64_t n, DType dtype) {
    const int rank = group.rank(), P = group.world_size();
    if (P == 1) return;
    const int right = (rank + 1) % P, left = (rank + P - 1) % P;

    // Send to the right neighbour with two tags; post the receive of the second tag
    // first.
    const Tensor one = Tensor::zeros({n}, dtype), two = Tensor::zeros({n}, dtype);
    for (const WorkHandle& work :
         {group.send_async(tensor_of(numbers_of(rank, n, 1), dtype), right, 1),
          group.send_async(tensor_of(numbers_of(rank, n, 2), dtype), right, 2),
          group.recv_async(two, left, 2), group.recv_async(one, left, 1)})
        work->wait();
    expect(one, numbers_of(left, n, 1), "message with tag 1");
    expect(two, numbers_of(left, n, 2), "message with tag 2");

    // All ranks send to rank 0, which receives from any source.
    std::vector<bool> received_from(static_cast<size_t>(P), false);
    for (int i = 1; i < P && rank == 0; ++i) {
        const Tensor x = Tensor::zeros({n}, dtype);
        const int source = group.recv(x, kAnySource, 3);
        expect(x, numbers_of(source, n), "message from any rank");
        MINI_CHECK(!received_from[static_cast<size_t>(source)], "rank ", source,
                   " was received twice");
        received_from[static_cast<size_t>(source)] = true;
    }
    if (rank != 0) group.send(tensor_of(numbers_of(rank, n), dtype), 0, 3);
    group.barrier();
}

/// Checks that rank 0 can receive a message from rank 1 while rank 0's all_reduce is in
/// flight. Rank 1 sends the message before it calls all_reduce.
inline void check_messages_beside_collectives(ProcessGroup& group) {
    const int rank = group.rank();
    if (group.world_size() == 1) return;
    constexpr int64_t n = 100'000;
    const Tensor x = Tensor::full({n}, 1), message = Tensor::full({n}, rank);
    if (rank == 0) {
        const WorkHandle sum = group.all_reduce_async(x);
        const WorkHandle received = group.recv_async(message, 1);
        received->wait();
        sum->wait();
    } else {
        if (rank == 1) group.send(message, 0);
        group.all_reduce(x);
    }
    expect(message, std::vector<float>(n, rank == 0 ? 1.0f : static_cast<float>(rank)),
           "message beside an all_reduce");
    expect(x, std::vector<float>(n, static_cast<float>(group.world_size())),
           "all_reduce");
}

/// Checks three monitored barriers and messages with the largest tag that programs can
/// use. Checks that reserved tags are rejected and do not break the group.
inline void check_reserved_tags(ProcessGroup& group) {
    const int rank = group.rank(), P = group.world_size();
    const int right = (rank + 1) % P, left = (rank + P - 1) % P;
    for (int round = 0; round < 3; ++round) {
        monitored_barrier(group);
        if (P == 1) continue;
        const Tensor x = Tensor::zeros({5});
        const WorkHandle received = group.recv_async(x, left, kReservedTags - 1);
        group.send(Tensor::full({5}, rank), right, kReservedTags - 1);
        received->wait();
        expect(x, std::vector<float>(5, static_cast<float>(left)), "largest tag");
    }
    for (const uint64_t tag : {kReservedTags, UINT64_MAX}) {
        const std::string text =
            P == 1 ? "the tag is reserved"
                   : failure_of([&] { group.send(Tensor::zeros({1}), right, tag); });
        MINI_CHECK(contains(text, "reserved"), "tag ", tag, ": \"", text, "\"");
    }
    const Tensor x = Tensor::ones({3});
    group.all_reduce(x);
    expect(x, std::vector<float>(3, static_cast<float>(P)),
           "all_reduce after a reserved tag");
}

/// Calls monitored_barrier on all ranks except the last, so that rank 0 throws Timeout.
inline void miss_monitored_barrier(ProcessGroup& group,
                                   std::chrono::milliseconds timeout) {
    const int last = group.world_size() - 1;
    if (group.rank() != last) return monitored_barrier(group, {.timeout = timeout});
    group.recv(Tensor::zeros({1}), 0);  // blocks until rank 0 has left
}

/// Checks subgroups of a group of four ranks: two halves, three ranks in another order, a
/// single rank, and a subgroup of a subgroup.
inline void check_subgroups(ProcessGroup& world) {
    const auto sum_over = [](ProcessGroup& group, int value) {
        const Tensor x = Tensor::full({3}, value);
        group.all_reduce(x);
        return x.to_vector<float>()[2];
    };
    const int rank = world.rank();
    const auto low = world.new_group({0, 1}), high = world.new_group({2, 3});
    MINI_CHECK((rank < 2) == (high == nullptr), "a rank is in the wrong half");
    const auto& half = rank < 2 ? low : high;
    MINI_CHECK(half->rank() == rank % 2, "rank ", half->rank(), " in the half");
    MINI_CHECK(sum_over(*half, rank) == (rank < 2 ? 1.0f : 5.0f), "wrong sum of a half");

    const auto odd = world.new_group({3, 0, 2}), alone = world.new_group({2});
    if (odd) {
        MINI_CHECK(odd->rank() == (rank == 3 ? 0 : rank == 0 ? 1 : 2), odd->rank());
        const Tensor first = Tensor::full({1}, rank);
        odd->broadcast(first, 0);
        MINI_CHECK(first.item() == 3.0, "the first member is rank 3");
        const auto pair = odd->new_group({0, 2});
        MINI_CHECK((pair != nullptr) == (rank >= 2), "wrong members");
        if (pair) MINI_CHECK(sum_over(*pair, rank) == 5.0f, "wrong sum of a pair");
    }
    if (alone) MINI_CHECK(sum_over(*alone, 7) == 7.0f, "wrong sum alone");
    MINI_CHECK(sum_over(world, 1) == 4.0f, "the whole group still works");
    world.barrier();  // no rank leaves while another still uses the group
}

}  // namespace mini::dist::test
