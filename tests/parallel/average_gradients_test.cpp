#include "libmini/parallel/average_gradients.hpp"

#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE(
    "average_gradients computes the mean over ranks with one all-reduce per parameter") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    struct Seen {
        std::vector<float> gradients;
        size_t collectives = 0;
    };
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        nn::Linear module(1, 1);
        sum(module(Tensor::full({1, 1}, group.rank()))).backward();
        parallel::average_gradients(module.parameters(), group);
        return Seen{flat_gradients(module),
                    group.events().snapshot(EventKind::kCollectiveBegin).size()};
    });
    for (const Seen& rank : seen) {
        CHECK(std::abs(rank.gradients[0] - static_cast<float>(ranks - 1) / 2) < 1e-6f);
        CHECK(std::abs(rank.gradients[1] - 1.0f) < 1e-6f);
        CHECK(rank.gradients == seen[0].gradients);
        CHECK(rank.collectives == 2);
    }
}

TEST_CASE("a missing gradient throws an error that names the parameter and the rank") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup& group) {
        const nn::Linear module(2, 3);
        return message_of(
            [&] { parallel::average_gradients(module.parameters(), group); });
    });
    CHECK(messages[0] ==
          "average_gradients: parameter 0 of shape (3, 2) has no gradient on rank 0; "
          "every rank "
          "must compute all gradients");
}
