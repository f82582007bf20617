// Join: ranks with different numbers of batches train together.

#include "libmini/parallel/join.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using parallel::Join;
using parallel::Joinable;
using parallel::JoinHook;
using parallel::JoinOptions;

namespace {

using Values = std::vector<float>;

// A joinable whose iteration is one all_reduce of one value per rank.
class Summing : public Joinable {
  public:
    explicit Summing(dist::ProcessGroup& group) : group_(group) {}

    void iterate(float value) {
        const auto active = Join::notify_join_context(*this);
        active_ranks.push_back(active ? active->count() : -1);
        sums.push_back(all_reduce(value));
        ops::fill_(state, static_cast<float>(sums.size() * 10) +
                              static_cast<float>(group_.rank()));
    }

    JoinHook join_hook(const JoinOptions& options) override {
        divides_by_initial = options.divide_by_initial_world_size;
        return {.main_hook =
                    [this] {
                        all_reduce(0);
                        ++shadowed;
                    },
                .post_hook =
                    [this](bool is_last_joiner) {
                        last_joiner.push_back(is_last_joiner);
                        parallel::broadcast_from_last_joiner(group_, is_last_joiner,
                                                             {state});
                    }};
    }
    dist::ProcessGroup& join_process_group() override { return group_; }

    std::vector<int> active_ranks;
    Values sums;
    Tensor state = Tensor::zeros({1});
    int shadowed = 0;
    std::vector<bool> last_joiner;
    bool divides_by_initial = true;

  private:
    float all_reduce(float value) {
        Tensor x = Tensor::scalar(value);
        group_.all_reduce(x);
        return static_cast<float>(x.item());
    }

    dist::ProcessGroup& group_;
};

struct Record {
    std::vector<int> active_ranks;
    Values sums;
    double state = 0;
    int shadowed = 0;
    std::vector<bool> last_joiner;
};

// Runs a Join in which rank r has batches[r] batches, each with the value 1.
std::vector<Record> run(const std::vector<int>& batches) {
    return on_ranks(static_cast<int>(batches.size()), [&](dist::ProcessGroup& group) {
        Summing model(group);
        Join({&model}).run([&] {
            for (int i = 0; i < batches[static_cast<size_t>(group.rank())]; ++i)
                model.iterate(1);
        });
        return Record{model.active_ranks, model.sums, model.state.item(), model.shadowed,
                      model.last_joiner};
    });
}

}  // namespace

TEST_CASE("joined ranks shadow the iterations of active ranks") {
    const std::vector<int> batches =
        GENERATE(std::vector<int>{3}, std::vector<int>{2, 2}, std::vector<int>{4, 1},
                 std::vector<int>{0, 3, 1}, std::vector<int>{2, 5, 5, 0},
                 std::vector<int>{1, 2, 3, 4, 3, 2, 1}, std::vector<int>{0, 0});
    CAPTURE(batches);
    const int most = *std::ranges::max_element(batches);
    const auto records = run(batches);
    for (size_t rank = 0; rank < batches.size(); ++rank) {
        CAPTURE(rank);
        const Record& record = records[rank];
        CHECK(record.shadowed == most - batches[rank]);

        // In iteration i, the ranks with more than i batches are active, and each of them
        // adds 1 to the sum.
        std::vector<int> active;
        for (int i = 0; i < batches[rank]; ++i)
            active.push_back(static_cast<int>(
                std::ranges::count_if(batches, [&](int count) { return count > i; })));
        CHECK(record.active_ranks == active);
        CHECK(record.sums == Values(active.begin(), active.end()));
        CHECK(record.last_joiner == std::vector<bool>{batches[rank] == most});
    }
}

TEST_CASE("the post hook broadcasts the state of the highest rank of the last joiners") {
    for (const Record& record : run({2, 5, 5, 0})) CHECK(record.state == 52);
    for (const Record& record : run({3, 1, 2})) CHECK(record.state == 30);
}

TEST_CASE(
    "early termination throws an error on all ranks with the same ranks and iteration") {
    const auto messages = on_ranks(3, [](dist::ProcessGroup& group) {
        Summing model(group);
        return message_of([&] {
            Join({&model}, {.throw_on_early_termination = true}).run([&] {
                for (int i = 0; i < (group.rank() == 1 ? 2 : 5); ++i) model.iterate(1);
            });
        });
    });
    for (size_t rank = 0; rank < messages.size(); ++rank)
        CHECK(messages[rank] ==
              concat("Join: rank 1 ran out of batches after 2 iterations, while rank 0, "
                     "rank 2 continued; noticed on rank ",
                     rank, " (throw_on_early_termination is set)"));
}

TEST_CASE("even inputs do not throw with early termination or with Join disabled") {
    const auto done = on_ranks(3, [](dist::ProcessGroup& group) {
        Summing model(group);
        const auto train = [&] {
            for (int i = 0; i < 3; ++i) model.iterate(1);
        };
        Join({&model}, {.throw_on_early_termination = true}).run(train);
        Join({&model}, {.enable = false}).run(train);
        return model.active_ranks;
    });
    for (const auto& active : done)
        CHECK(active == std::vector<int>{3, 3, 3, -1, -1, -1});
}

TEST_CASE("a second Join over the same joinable starts with a new state") {
    const auto records = on_ranks(2, [](dist::ProcessGroup& group) {
        Summing model(group);
        for (const int round : {0, 1})
            Join({&model}, {.divide_by_initial_world_size = round == 0}).run([&] {
                const int batches = group.rank() == round ? 1 : 2;
                for (int i = 0; i < batches; ++i) model.iterate(1);
            });
        return std::pair(model.sums, model.divides_by_initial);
    });
    CHECK(records[0].first == Values{2, 2, 1});
    CHECK(records[1].first == Values{2, 1, 2});
    CHECK_FALSE(records[0].second);
}

TEST_CASE("an exception of the body is rethrown and the joinable leaves the Join") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        Summing model(group);
        const std::string message = message_of(
            [&] { Join({&model}).run([] { throw Error("no more memory"); }); });
        model.iterate(1);
        return concat(message, " ", model.active_ranks, " ", model.last_joiner.size());
    });
    CHECK(messages[0] == "no more memory (-1,) 0");
}

TEST_CASE("of several joinables only the first counts active ranks but all shadow") {
    const auto by_rank = on_ranks(3, [](dist::ProcessGroup& group) {
        Summing first(group), second(group);
        Join({&first, &second}).run([&] {
            for (int i = 0; i < group.rank(); ++i) {
                first.iterate(1);
                second.iterate(2);
            }
        });
        return std::tuple(first.active_ranks, second.active_ranks, second.sums,
                          second.shadowed);
    });
    CHECK(by_rank[2] ==
          std::tuple(std::vector<int>{2, 1}, std::vector<int>{-1, -1}, Values{4, 2}, 0));
    CHECK(std::get<3>(by_rank[0]) == 2);
}

TEST_CASE("joinables of two groups and an empty list are rejected") {
    CHECK(message_of<UsageError>([] { Join(std::vector<Joinable*>{}); }) ==
          "Join: the list of joinables is empty; pass one, such as a model");
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        const auto other = group.new_group({0, 1});
        Summing first(group), second(*other);
        return message_of<UsageError>([&] { Join({&first, &second}); });
    });
    CHECK(messages[1] ==
          "Join: joinable 1 is of another process group than joinable 0; use "
          "one Join for each group");
}
