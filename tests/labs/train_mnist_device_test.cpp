// train_mnist --device cuda: the same job on GPUs, or on the simulator's devices.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>

#include "libmini/io/checkpoint.hpp"
#include "tests/labs/train_mnist_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::test;

namespace {

// Returns the options of a job with batches of 12, in file order and without dropout,
// since a GPU draws different masks.
Words small_job(const std::string& folder, const Words& more) {
    return Words{"--data", folder,         "--batch-size", "12", "--order",
                 "file",   "--no-dropout", "--epochs",     "1"} +
           more;
}

std::string cuda_name(int index) {
    return "cuda:" + std::to_string(index % cuda_device_count());
}

}  // namespace

TEST_CASE("train_mnist with one CUDA device per rank has the CPU's losses", "[cuda]") {
    const TinyMnist folder(36);
    const auto cpu = results(1, small_job(folder.path(), {}));
    REQUIRE(cpu.at("step_loss").size() == 3);
    CHECK(cpu.at("devices") == nlohmann::json({"cpu"}));
    for (const int ranks : {1, 2, 3}) {
        CAPTURE(ranks);
        const auto cuda = results(ranks, small_job(folder.path(), {"--device", "cuda"}));
        CHECK(distance(cuda.at("step_loss"), cpu.at("step_loss")) < 1e-5);
        CHECK(cuda.at("test_accuracy") == cpu.at("test_accuracy"));
        check_replicas(cuda.at("parameters_sha256"), ranks);
        REQUIRE(cuda.at("devices").size() == static_cast<size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank)
            CHECK(cuda.at("devices")[static_cast<size_t>(rank)] == cuda_name(rank));
    }
}

TEST_CASE("train_mnist computes on the device of --device and reports it", "[cuda]") {
    const TinyMnist folder(24);
    const std::string last = cuda_name(cuda_device_count() - 1);
    const auto json = results(2, small_job(folder.path(), {"--device", last}));
    CHECK(json.at("devices") == nlohmann::json({last, last}));

    const ProcessResult ended = train(2, small_job(folder.path(), {"--device", "cuda"}));
    CHECK(ended.code == 0);
    CHECK(contains(ended.out, "  devices    cuda:0, " + cuda_name(1)));
}

TEST_CASE("ranks as threads use the same CUDA devices as ranks as processes", "[cuda]") {
    const TinyMnist folder(24);
    const auto threads = results(
        1, small_job(folder.path(),
                     {"--device", "cuda", "--backend", "threads", "--ranks", "2"}));
    const auto processes = results(2, small_job(folder.path(), {"--device", "cuda"}));
    CHECK(threads.at("devices") == processes.at("devices"));
    CHECK(threads.at("parameters_sha256") == processes.at("parameters_sha256"));
}

TEST_CASE("a checkpoint in the middle of an epoch has all losses of a CUDA device",
          "[cuda]") {
    const TinyMnist folder(60);  // 5 steps
    const auto job = [&](const Words& more) {
        return small_job(folder.path(), Words{"--device", "cuda"} + more);
    };
    const Words saving{"--checkpoint", folder.path() + "/checkpoints", "--every", "2"};
    const auto whole = results(1, job({}));
    results(1, job(saving));
    std::filesystem::remove(io::CheckpointFolder(folder.path() + "/checkpoints").path(5));
    const auto resumed = results(1, job(saving));
    CHECK(resumed.at("resumed_at_step") == 4);
    CHECK(resumed.at("step_loss") == whole.at("step_loss"));
}

TEST_CASE("an interrupted run on CUDA devices resumes bitwise identically", "[cuda]") {
    const TinyMnist folder(36);
    const Folder kept;
    const std::string optimizer = GENERATE("sgd", "adam");
    const Words device{"--device", "cuda", "--optimizer", optimizer, "--checkpoint"};
    const auto run = [&](const std::string& name, const Words& more) {
        return results(2, small_job(folder.path(),
                                    device + Words{kept / (optimizer + name)} + more));
    };
    run("cut", {"--steps", "2"});
    const auto resumed = run("cut", {});
    CHECK(resumed.at("resumed_at_step") == 2);
    CHECK(resumed.at("parameters_sha256") == run("whole", {}).at("parameters_sha256"));
}
