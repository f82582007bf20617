// Subgroups: new_group.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/backends/ring.hpp"
#include "tests/distributed/conformance.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Runs body(group) on each of four ranks of backend "threads" or "ring". Returns the text
// of each rank's exception.
std::vector<std::string> on_four(const std::string& backend,
                                 const std::function<void(ProcessGroup&)>& body,
                                 const std::string& link = "") {
    const int port = free_port();
    const auto threads = make_threads_groups(4, kLong);
    return texts_of(4, [&](int rank) {
        if (backend == "threads") return body(*threads[static_cast<size_t>(rank)]);
        const auto group = make_ring_group({{"127.0.0.1", port}, rank, 4, Cookie{}},
                                           Medium::kAuto, kLong, link);
        body(*group);
        group->barrier();
    });
}

}  // namespace

TEST_CASE(
    "subgroups reduce independently, in the given order, and may overlap and nest") {
    const std::string backend = GENERATE("threads", "ring");
    CHECK(on_four(backend, check_subgroups) == std::vector<std::string>(4));
}

TEST_CASE("invalid lists of members are rejected on every rank") {
    const auto check = [](const std::function<std::vector<int>(int)>& list,
                          const std::string& expected) {
        for (const std::string& text : on_four("threads", [&](ProcessGroup& world) {
                 world.new_group(list(world.rank()));
             })) {
            CAPTURE(text);
            CHECK(contains(text, "UsageError: new_group"));
            CHECK(contains(text, expected));
        }
    };
    check([](int) { return std::vector<int>{0, 4}; }, "outside 0 to 3");
    check([](int) { return std::vector<int>{1, 1}; }, "passes a rank twice");
    check([](int) { return std::vector<int>{}; }, "no ranks were given");
    check(
        [](int rank) {
            return rank == 2 ? std::vector<int>{0} : std::vector<int>{0, 1};
        },
        "ranks 0 and 2 pass different lists");
}

TEST_CASE("the name and the members of a subgroup are equal on all its ranks") {
    const std::string backend = GENERATE("threads", "ring");
    std::vector<std::string> names(4);
    const auto texts = on_four(backend, [&](ProcessGroup& world) {
        const auto pair = world.new_group({3, 1}), other = world.new_group({0, 2});
        const auto& mine = world.rank() % 2 == 1 ? pair : other;
        const auto alone = mine->new_group({1});
        std::string& text = names[static_cast<size_t>(world.rank())];
        text = concat(world.name(), "; ", mine->name(), " ", mine->world_ranks());
        if (alone) text += concat("; ", alone->name(), " ", alone->world_ranks());
        MINI_CHECK(get_process_group_ranks(world) == std::vector<int>({0, 1, 2, 3}),
                   "wrong members");
        MINI_CHECK(get_global_rank(*mine, mine->rank()) == world.rank(), "wrong rank");
        MINI_CHECK(get_group_rank(*mine, world.rank()) == mine->rank(), "wrong rank");
        MINI_CHECK(failure_of([&] { get_global_rank(*mine, 2); }) ==
                       concat("UsageError: get_global_rank: ", mine->name(),
                              " has the ranks 0 to 1, but not rank 2"),
                   "wrong error");
        MINI_CHECK(
            contains(failure_of([&] { get_group_rank(*mine, (world.rank() + 1) % 4); }),
                     concat(mine->world_ranks(), " of the job, but not rank ",
                            (world.rank() + 1) % 4)),
            "wrong error");
        mine->barrier();
    });
    CHECK(texts == std::vector<std::string>(4));
    CHECK(names == std::vector<std::string>{"default; group 2 (0, 2)",
                                            "default; group 1 (3, 1); group 1.1 (1,)",
                                            "default; group 2 (0, 2); group 2.1 (2,)",
                                            "default; group 1 (3, 1)"});
}

TEST_CASE("the errors of a subgroup name the ranks of the job") {
    const std::string backend = GENERATE("threads", "ring");
    const auto texts = on_four(backend, [&](ProcessGroup& world) {
        const auto pair = world.new_group({2, 3});
        if (world.rank() == 3) {
            dynamic_cast<QueuedGroup&>(*pair).abandon("out of memory");
            world.barrier();
        } else if (world.rank() == 2) {
            const std::string text = failure_of([&] { pair->barrier(); });
            world.barrier();
            throw Error(concat(text, "; then ", failure_of([&] { pair->barrier(); })));
        } else {
            world.barrier();
        }
    });
    CAPTURE(texts[2]);
    const std::string note = " [ranks 0 and 1 of group 1 are ranks 2 and 3 of the job]";
    CHECK(contains(texts[2], "Error: PeerLost(3): rank 1 failed: out of memory"));
    CHECK(contains(texts[2], note + "; then PeerLost(3): barrier: the group is broken"));
    CHECK(texts[2].ends_with(note));
}

TEST_CASE("a warning of a subgroup has the rank of the job as its prefix") {
    std::vector<std::string> texts;
    const std::string output = mini::test::warnings_of([&] {
        texts = on_four("threads", [&](ProcessGroup& world) {
            const auto pair = world.new_group({2, 3});
            if (world.rank() == 2) {
                const Tensor x = Tensor::zeros({3});
                const WorkHandle work =
                    pair->start(all_reduce_within(milliseconds(200), x));
                failure_of([&] { work->wait(); });
            }
            world.barrier();
        });
    });
    CHECK(texts == std::vector<std::string>(4));
    CAPTURE(output);
    CHECK(contains(output, "[rank 2] warning: waiting for rank 1 in all_reduce #1"));
    CHECK(contains(output, "[ranks 0 and 1 of group 1 are ranks 2 and 3 of the job]\n"));
}

TEST_CASE("a subgroup has the emulated links of its ranks in the job") {
    std::vector<float> sums(4);
    std::vector<int> places(4);
    std::atomic<int> finished = 0;
    const auto reduce_beside_each_other = [&](ProcessGroup& world) {
        const auto low = world.new_group({0, 1}), high = world.new_group({2, 3});
        const bool is_low = world.rank() < 2;
        const auto r = static_cast<size_t>(world.rank());
        const Tensor x = Tensor::full({is_low ? 2048 : 4096}, world.rank() + 1);
        world.barrier();
        (is_low ? low : high)->all_reduce(x);
        places[r] = finished++;
        sums[r] = x.to_vector<float>()[2047];
    };
    // The 8 KiB to or from rank 0 take 0.7 s; the 16 KiB of ranks 2 and 3 take 1.3 ms.
    const auto texts =
        on_four("ring", reduce_beside_each_other, "100Mbit,1ms; rank 0 at 0.001");
    CHECK(texts == std::vector<std::string>(4));
    CHECK(sums == std::vector<float>{3, 3, 7, 7});
    CHECK(std::max(places[2], places[3]) < std::min(places[0], places[1]));
}

TEST_CASE("an emulated network with hosts is rejected") {
    const auto texts = on_four(
        "ring", [](ProcessGroup&) {}, "1Gbit,1ms; hosts of 2: 10Gbit");
    for (const std::string& text : texts)
        CHECK(text.starts_with("UsageError: the emulated link \"1Gbit,1ms; hosts of 2"));
}
