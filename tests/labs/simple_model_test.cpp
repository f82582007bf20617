// simple_model: DataParallel and DDP train the same, but send different numbers of bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/labs/program_job.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini::test;

namespace {

const std::string kSimpleModel = "simple_model";

// spawn throws in a process with several threads; the thread sanitizer starts a thread.
bool can_spawn() {
    if (!kWatchesThreads) return true;
    WARN("left out: the thread sanitizer has threads of its own");
    return false;
}

Words as_golden(const Words& more) {
    return Words{"--samples", "96", "--batch-size", "24", "--epochs", "5"} + more;
}

nlohmann::json by_dp(int devices, const Words& more) {
    const Words mode{"--mode", "dp", "--devices", std::to_string(devices)};
    return json_of(1, kSimpleModel, as_golden(more + mode)).at("dp");
}

nlohmann::json by_ddp(int ranks, const Words& more) {
    const Words mode{"--mode", "ddp"};
    return json_of(ranks, kSimpleModel, as_golden(more + mode)).at("ddp");
}

}  // namespace

TEST_CASE("simple_model has PyTorch's losses on 1 to 4 devices or ranks") {
    const auto golden = golden_cases("tutorial_programs")[1];
    for (const int count : {1, 2, 3, 4}) {
        CAPTURE(count);
        // The losses are floats below 1, summed in a different order.
        const auto dp = by_dp(count, {});
        CHECK(dp.at("devices") == count);
        CHECK(distance(dp.at("loss"), golden.at("loss")) < 1e-6);
        const auto ddp = by_ddp(count, {});
        CHECK(ddp.at("world_size") == count);
        CHECK(distance(ddp.at("loss"), golden.at("loss")) < 1e-6);
        check_replicas(ddp.at("parameters_sha256"), count);
    }
}

TEST_CASE("simple_model spawns four ranks and both modes reach the same loss") {
    if (!can_spawn()) return;
    const auto json = parse_output(run_alone(kSimpleModel, {"--devices", "4", "--json"}));
    CHECK(json.at("ddp").at("world_size") == 4);
    CHECK(distance(json.at("dp").at("loss"), json.at("ddp").at("loss")) < 1e-6);
    CHECK(json.at("dp").at("loss").back().get<double>() < 0.36);
    check_replicas(json.at("ddp").at("parameters_sha256"), 4);
}

TEST_CASE("simple_model trains the same on spawned ranks as under minirun") {
    if (!can_spawn()) return;
    for (const int ranks : {1, 2, 3}) {
        CAPTURE(ranks);
        const ProcessResult ended =
            run_alone(kSimpleModel, as_golden({"--mode", "ddp", "--json", "--world-size",
                                               std::to_string(ranks)}));
        CHECK(parse_output(ended).at("ddp") == by_ddp(ranks, {}));
    }
}

TEST_CASE("simple_model counts the bytes that DataParallel moves through device 0") {
    // A batch has 24 rows. For each row of another device, device 0 sends 10 floats and
    // the output's gradient, and receives the output. The model has 11 parameters.
    for (const int devices : {1, 2, 3, 4}) {
        CAPTURE(devices);
        const auto dp = by_dp(devices, {});
        const auto& traffic = dp.at("traffic");
        const int rows = 24 - 24 / devices;
        CHECK(traffic.at("scattered") == rows * (10 + 1) * 4);
        CHECK(traffic.at("gathered") == rows * 4);
        CHECK(traffic.at("replicated") == (devices - 1) * 11 * 4);
        CHECK(traffic.at("reduced") == (devices - 1) * 11 * 4);
        CHECK(dp.at("bytes_per_step") ==
              nlohmann::json({rows * 48 + (devices - 1) * 88}));
    }
}

TEST_CASE("simple_model counts the bytes of the gradients that each rank of DDP sends") {
    // The model has 1,001 parameters; each rank of a ring sends 2 (P-1)/P of their
    // gradients, up to rounding of the chunks.
    constexpr int64_t kBytes = 1001 * 4;
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(ranks);
        const auto sent = by_ddp(ranks, {"--dim", "1000"})
                              .at("bytes_per_step")
                              .get<std::vector<int64_t>>();
        REQUIRE(sent.size() == static_cast<size_t>(ranks));
        int64_t all = 0;
        for (const int64_t bytes : sent) all += bytes;
        CHECK(all >= 2 * (ranks - 1) * kBytes);
        CHECK(all <= 2 * ranks * kBytes);

        const auto other = by_ddp(ranks, {"--dim", "1000", "--lr", "0.01"});
        CHECK(other.at("bytes_per_step") == nlohmann::json(sent));
        const auto dp = by_dp(ranks, {"--dim", "1000"});
        CHECK(dp.at("bytes_per_step")[0].get<int64_t>() >
              *std::max_element(sent.begin(), sent.end()));
    }
    CHECK(by_ddp(1, {}).at("bytes_per_step") == nlohmann::json({0}));
}

TEST_CASE(
    "simple_model keeps replicas equal if the world size does not divide the samples") {
    for (const int ranks : {3, 4}) {
        const auto ddp =
            json_of(ranks, kSimpleModel,
                    {"--mode", "ddp", "--samples", "97", "--batch-size", "12"})
                .at("ddp");
        check_replicas(ddp.at("parameters_sha256"), ranks);
        CHECK(ddp.at("loss").size() == 10);
    }
}

TEST_CASE("simple_model prints both modes or one JSON object and only rank 0 prints") {
    const ProcessResult text = run_ranks(2, kSimpleModel, {});
    CHECK(text.code == 0);
    CHECK(contains(text.out, "DataParallel, devices: 3"));
    CHECK(contains(text.out, "DistributedDataParallel, ranks: 2"));
    CHECK(contains(text.out, "bitwise identical on all ranks"));
    CHECK_FALSE(contains(text.out, "[rank 1]"));

    const auto json = json_of(2, kSimpleModel, {"--epochs", "3"});
    CHECK(json.at("mode") == "both");
    CHECK(json.at("epochs") == 3);
    CHECK(json.at("batch_size") == 20);
    CHECK(json.at("samples") == 100);
    CHECK(json.at("dim") == 10);
    CHECK(json.at("dp").at("loss").size() == 3);
    CHECK(json.at("ddp").at("loss").size() == 3);
    CHECK_FALSE(json_of(2, kSimpleModel, {"--mode", "dp"}).contains("ddp"));
}

TEST_CASE("simple_model prints help and rejects invalid options") {
    check_help(kSimpleModel, {"--mode", "--devices", "--world-size", "--epochs",
                              "--batch-size", "--samples", "--dim", "--lr", "--json"});
    check_rejects(kSimpleModel, 1, {"--mode", "fsdp"}, "fsdp not in {dp,ddp,both}");
    check_rejects(kSimpleModel, 3, {"--batch-size", "20"},
                  "20 cannot be divided among 3");
    check_rejects(kSimpleModel, 1, {"--devices", "0"}, "--devices");
    const ProcessResult alone = run_alone(kSimpleModel, {"--batch-size", "10"});
    CHECK(alone.code == 2);
    CHECK(contains(alone.err, "10 cannot be divided among 4 ranks; try 8"));
}
