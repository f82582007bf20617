// linear_ddp under minirun has PyTorch's losses for any number of ranks.

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/labs/program_job.hpp"
#include "tests/support/golden.hpp"

using namespace mini::test;

namespace {

const std::string kLinearDDP = "linear_ddp";

// Returns the indices on each line that begins with `name` in the output of `linear_ddp
// --samplers`.
std::vector<std::set<int>> indices_of(const std::string& out, const std::string& name) {
    std::vector<std::set<int>> found;
    for (const std::string& line : lines(out)) {
        if (!line.starts_with(name)) continue;
        std::istringstream numbers(line.substr(38));
        found.emplace_back(std::istream_iterator<int>(numbers),
                           std::istream_iterator<int>());
    }
    return found;
}

}  // namespace

TEST_CASE("linear_ddp has PyTorch's losses on 1 to 4 ranks") {
    const auto golden = golden_cases("tutorial_programs")[0];
    for (const int ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        const auto json =
            json_of(ranks, kLinearDDP,
                    {"--samples", "960", "--epochs", "5", "--batch-size",
                     std::to_string(48 / ranks)});  // 48 per step, over all ranks
        // The losses are floats of about 3, summed in a different order.
        CHECK(distance(json.at("train_loss"), golden.at("loss")) < 2e-6);
        check_replicas(json.at("parameters_sha256"), ranks);
    }
}

// On 1 to 4 ranks the losses are equal, as the first case shows.
TEST_CASE("the loss of linear_ddp falls to the noise of the data on 1 and 4 ranks") {
    for (const int ranks : {1, 4}) {
        CAPTURE(ranks);
        const auto json =
            json_of(ranks, kLinearDDP,
                    {"--epochs", "15", "--batch-size", std::to_string(24 / ranks)});
        CHECK(json.at("train_loss").back().get<double>() <
              0.011);  // the noise contributes 0.01
        CHECK(json.at("parameter_error").get<double>() < 0.02);
        check_replicas(json.at("parameters_sha256"), ranks);
    }
}

TEST_CASE("linear_ddp is bitwise reproducible and depends on --seed") {
    const std::vector<std::string> options{"--epochs", "2"};
    const auto first = json_of(3, kLinearDDP, options);
    CHECK(json_of(3, kLinearDDP, options) == first);
    CHECK(json_of(3, kLinearDDP, {"--epochs", "2", "--seed", "1"}).at("train_loss") !=
          first.at("train_loss"));
}

TEST_CASE("linear_ddp --overlapped trains like DistributedDataParallel") {
    const std::vector<std::string> options{"--epochs", "2"};
    for (const int ranks : {1, 2, 3}) {
        CAPTURE(ranks);
        const auto ddp = json_of(ranks, kLinearDDP, options);
        const auto overlapped =
            json_of(ranks, kLinearDDP, {"--epochs", "2", "--overlapped"});
        check_replicas(overlapped.at("parameters_sha256"), ranks);
        // Of two numbers the sum has one order, whatever the sizes of the messages.
        if (ranks < 3) CHECK(overlapped == ddp);
        CHECK(distance(overlapped.at("train_loss"), ddp.at("train_loss")) < 2e-6);
    }
}

TEST_CASE("linear_ddp runs with fewer samples than ranks") {
    const auto json = json_of(4, kLinearDDP, {"--samples", "1", "--epochs", "2"});
    check_replicas(json.at("parameters_sha256"), 4);
    CHECK(json.at("train_loss") ==
          json_of(1, kLinearDDP, {"--samples", "1", "--epochs", "2"}).at("train_loss"));
}

TEST_CASE(
    "linear_ddp --samplers shows that each epoch has all samples in a different order") {
    for (const int ranks : {1, 2, 3}) {
        CAPTURE(ranks);
        const ProcessResult ended = run_ranks(ranks, kLinearDDP, {"--samplers"});
        REQUIRE(ended.code == 0);
        std::vector<std::vector<std::set<int>>> epochs;
        for (const std::string epoch : {"0", "1"}) {
            const auto shares =
                indices_of(ended.out, "DistributedSampler, epoch " + epoch);
            REQUIRE(shares.size() == static_cast<size_t>(ranks));
            std::set<int> all;
            for (const auto& share : shares) all.insert(share.begin(), share.end());
            CHECK(all.size() == 10);
            epochs.push_back(shares);
        }
        if (ranks > 1) CHECK(epochs[0] != epochs[1]);
        CHECK(indices_of(ended.out, "RandomSampler").at(0).size() == 10);
        CHECK(indices_of(ended.out, "SubsetRandomSampler").at(0) ==
              std::set<int>{2, 4, 6, 8});
    }
}

TEST_CASE("linear_ddp prints one line per epoch and a summary or one JSON object") {
    const ProcessResult text = run_ranks(2, kLinearDDP, {"--epochs", "2"});
    CHECK(text.code == 0);
    CHECK(contains(text.out, "epoch  2   loss "));
    CHECK(contains(text.out, "world size 2"));
    CHECK(contains(text.out, "bitwise identical on all ranks"));

    const auto json = json_of(2, kLinearDDP, {"--epochs", "3", "--batch-size", "100"});
    CHECK(json.at("world_size") == 2);
    CHECK(json.at("epochs") == 3);
    CHECK(json.at("batch_size") == 100);
    CHECK(json.at("samples") == 1000);
    CHECK(json.at("train_loss").size() == 3);
    const ProcessResult alone = run_alone(kLinearDDP, {"--epochs", "1", "--json"});
    CHECK(parse_output(alone).at("world_size") == 1);
}

TEST_CASE("linear_ddp prints help and rejects invalid options") {
    check_help(kLinearDDP, {"--epochs", "--batch-size", "--samples", "--lr", "--seed",
                            "--samplers", "--json"});
    check_rejects(kLinearDDP, 2, {"--bogus"}, "--bogus");
    check_rejects(kLinearDDP, 2, {"--epochs", "0"}, "--epochs");
    check_rejects(kLinearDDP, 2, {"--epochs", "two"}, "two");
    check_rejects(kLinearDDP, 3, {"--batch-size", "-1"}, "--batch-size");
    check_rejects(kLinearDDP, 1, {"--lr", "nan"}, "--lr: must be at least 0, but is nan");
    check_rejects(kLinearDDP, 1, {"--lr", "-1"}, "--lr: must be at least 0, but is -1");
}
