// Buckets in the gradient order of another run, as needed to resume training.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DistributedDataParallel;

namespace {

const parallel::DDPOptions kSmallBuckets{.first_bucket_bytes = 32,
                                         .bucket_cap_mb = parallel::mib(64)};

}  // namespace

TEST_CASE(
    "set_gradient_order immediately and permanently gives the other run's buckets") {
    const int ranks = GENERATE(1, 2, 3);
    CAPTURE(ranks);
    on_ranks(ranks, [](dist::ProcessGroup&) {
        // The first run; its order is read after its first and its second iteration.
        Toy toy;
        DistributedDataParallel ddp(toy, kSmallBuckets);
        const bool empty_before = ddp.gradient_order().empty();
        train_once(ddp, 3);
        const auto after_one = ddp.gradient_order();
        train_once(ddp, 3);
        const auto after_two = ddp.gradient_order();

        // A second run that resumes with this order.
        Toy again;
        DistributedDataParallel resumed(again, kSmallBuckets);
        resumed.set_gradient_order(after_one);
        bool same =
            resumed.has_rebuilt_buckets() && assignment(resumed) == assignment(ddp);
        for (int pass = 0; pass < 3; ++pass) {
            train_once(resumed, 3);
            same = same && assignment(resumed) == assignment(ddp) &&
                   resumed.gradient_order() == after_one;
        }
        MINI_CHECK(
            empty_before && after_one.size() == 4 && after_two == after_one && same,
            "the order of the gradients was not kept");
        return 0;
    });
}

TEST_CASE("a gradient order has the parameters without a gradient at its end") {
    const bool is_static = GENERATE(false, true);
    const auto orders = on_ranks(2, [&](dist::ProcessGroup&) {
        Branches branches, again;
        branches.on = {false, true, false};
        const parallel::DDPOptions options{.find_unused_parameters = !is_static,
                                           .static_graph = is_static};
        DistributedDataParallel ddp(branches, options), resumed(again, options);
        ddp(draw({1}, 1)).backward();
        resumed.set_gradient_order(ddp.gradient_order());
        return resumed.gradient_order();
    });
    CHECK(orders[0] == std::vector<int64_t>{1, 2, 0});
    CHECK(orders[1] == orders[0]);
}

TEST_CASE("any permutation of the parameters can be set as the gradient order") {
    const auto indices = on_ranks(1, [](dist::ProcessGroup&) {
        Toy toy;
        DistributedDataParallel ddp(
            toy, {.first_bucket_bytes = 1, .bucket_cap_mb = parallel::mib(1)});
        ddp.set_gradient_order({2, 0, 3, 1});
        return assignment(ddp);
    });
    CHECK(indices[0] == std::vector<std::vector<size_t>>{{2}, {0}, {3}, {1}});
}

TEST_CASE("a gradient order that is not a permutation or is set too late is rejected") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup&) {
        Toy toy;
        DistributedDataParallel ddp(toy, kSmallBuckets);
        std::vector<std::string> said;
        for (const std::vector<int64_t>& order : std::vector<std::vector<int64_t>>{
                 {}, {0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {3, 2, 1, -1}})
            said.push_back(message_of([&] { ddp.set_gradient_order(order); }));
        train_once(ddp, 3);
        said.push_back(message_of([&] { ddp.set_gradient_order({0, 1, 2, 3}); }));
        return said;
    });
    REQUIRE(messages[0].size() == 6);
    for (size_t i = 0; i < 5; ++i)
        CHECK(contains(messages[0][i], "are not an order of 4 parameters"));
    CHECK(contains(messages[0][5], "before the first iteration"));
}
