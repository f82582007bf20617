// Several threads that use one group concurrently (F12), and groups of many ranks (F27).
//
// Any thread may call a group, but only one blocking call may run at a time: a second
// blocking call throws. Asynchronous calls of several threads run in call order. If this
// order differs between ranks, the ranks throw MismatchedCollective. Equal calls cannot
// be distinguished, so threads that make equal calls need one group each.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

constexpr int kRounds = 50;

// Calls all_reduce on `n` numbers `rounds` times; throws Error if a sum is wrong.
void reduce_rounds(ProcessGroup& group, int64_t n, float value, int rounds = kRounds) {
    const int P = group.world_size();
    for (int i = 0; i < rounds; ++i) {
        const Tensor x = Tensor::full({n}, value);
        group.all_reduce_async(x)->wait();
        for (const float sum : x.to_vector<float>())
            MINI_CHECK(sum == value * static_cast<float>(P), "wrong sum ", sum, " of ",
                       value);
    }
}

}  // namespace

TEST_CASE("two threads that race in one group get a mismatch or the right sums") {
    const int world_size = GENERATE(2, 3);
    const auto groups = make_groups(any_transport(), world_size, milliseconds(5000));
    std::vector<std::vector<std::string>> texts(groups.size());
    on_ranks(world_size, [&](int rank) {
        const auto r = static_cast<size_t>(rank);
        texts[r] = texts_of(2, [&](int thread) {  // on two threads
            reduce_rounds(*groups[r], thread == 0 ? 8 : 1000, thread == 0 ? 1 : 2);
        });
    });
    for (const auto& of_rank : texts)
        for (const std::string& text : of_rank) {
            CAPTURE(world_size, text);
            CHECK((text.empty() || contains(text, "MismatchedCollective")));
        }
}

TEST_CASE("two threads' calls in a different order on each rank are a mismatch") {
    const auto groups = make_groups(any_transport(), 2);
    const auto texts = texts_of(2, [&](int rank) {
        WorkHandle works[2];
        for (const int call : {0, 1}) {  // each from its own thread
            const int64_t n = 8 + (rank + call) % 2;
            std::thread([&] {
                ProcessGroup& group = *groups[static_cast<size_t>(rank)];
                const auto start = [&] {
                    works[call] = group.all_reduce_async(Tensor::ones({n}));
                };
                failure_of(start);  // the second call may throw: the group is broken
            }).join();
        }
        works[0]->wait();
    });
    for (const std::string& text : texts) {
        CAPTURE(text);
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "sum of 8"));
        CHECK(contains(text, "sum of 9"));
    }
}

TEST_CASE("two threads with one group each do not interfere") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const std::vector<std::vector<std::shared_ptr<QueuedGroup>>> groups = {
        make_groups(kind, 3), make_groups(kind, 3)};
    require_none(on_ranks(6, [&](int i) {
        const auto one = static_cast<size_t>(i % 2), rank = static_cast<size_t>(i / 2);
        reduce_rounds(*groups[one][rank], 8, static_cast<float>(1 + i % 2));
    }));
}

TEST_CASE("all_reduce is right for 1 to 16 ranks and for 0 to 1009 elements") {
    const int world_size =
        mini::test::kWatchesThreads
            ? GENERATE(1, 2, 7, 16)
            : GENERATE(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    const auto groups = make_groups("threads", world_size);
    on_each(groups, [](ProcessGroup& group, int /*rank*/) {
        for (const int64_t n : {0, 1, 7, 1009}) reduce_rounds(group, n, 3, 10);
    });
}
