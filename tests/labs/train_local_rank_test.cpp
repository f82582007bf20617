// train_local_rank under minirun counts each test image once; each rank has a device.

#include <set>
#include <string>
#include <vector>

#include "libmini/tensor/device.hpp"
#include "tests/labs/train_mnist_job.hpp"

using namespace mini::test;

namespace {

const std::string kName = "train_local_rank";

// Returns the options to train on 48 of 50 images, 12 per step on all ranks together.
std::vector<std::string> tiny(const Folder& folder, int ranks) {
    return {"--data",       folder.path(),
            "--samples",    "48",
            "--batch-size", std::to_string(12 / ranks),
            "--epochs",     "3"};
}

}  // namespace

TEST_CASE("train_local_rank counts each test image once on 1 to 4 ranks") {
    const TinyMnist folder(50);
    const auto alone = json_of(1, kName, tiny(folder, 1));
    CHECK(alone.at("test_seen") == 50);
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(ranks);
        const auto json = json_of(ranks, kName, tiny(folder, ranks));
        CHECK(json.at("test_seen") == 50);
        CHECK(json.at("test_correct") == alone.at("test_correct"));
        CHECK(distance(json.at("train_loss"), alone.at("train_loss")) < 1e-5);
        check_replicas(json.at("parameters_sha256"), ranks);
        CHECK(json_of(ranks, kName, tiny(folder, ranks)) == json);
    }
}

TEST_CASE("train_local_rank with one CUDA device per rank has the CPU's losses",
          "[cuda]") {
    if (mini::cuda_device_count() == 0) {
        WARN("left out: this build has no CUDA devices");
        return;
    }
    const TinyMnist folder(50);
    for (const int ranks : {1, 2}) {
        CAPTURE(ranks);
        const auto cpu = json_of(ranks, kName, tiny(folder, ranks));
        const auto cuda =
            json_of(ranks, kName, tiny(folder, ranks) + Words{"--device", "cuda"});
        CHECK(cuda.at("device") == "cuda");
        CHECK(cuda.at("test_correct") == cpu.at("test_correct"));
        CHECK(distance(cuda.at("train_loss"), cpu.at("train_loss")) < 1e-5);
        check_replicas(cuda.at("parameters_sha256"), ranks);
    }
}

// On 1 to 4 ranks the losses are equal, as the first case shows.
TEST_CASE("train_local_rank learns the embedded digits on 1 and 4 ranks") {
    for (const int ranks : {1, 4}) {
        CAPTURE(ranks);
        const auto json = json_of(ranks, kName,
                                  {"--data", "digits", "--samples", "6000",
                                   "--batch-size", std::to_string(24 / ranks)});
        CHECK(json.at("train_loss").back().get<double>() < 0.5);
        CHECK(json.at("test_accuracy").get<double>() > 0.9);
        CHECK(json.at("test_seen") == 10000);
        check_replicas(json.at("parameters_sha256"), ranks);
    }
}

TEST_CASE("train_local_rank distributes its training images differently in each epoch") {
    // Three images on two ranks: one image is used twice; its index depends on the epoch.
    // With --lr 0 the weights are constant, so the loss changes only with this image.
    const TinyMnist folder(3);
    const auto json =
        json_of(2, kName, {"--data", folder.path(), "--lr", "0", "--epochs", "6"});
    const auto loss = json.at("train_loss").get<std::vector<double>>();
    CHECK(std::set<double>(loss.begin(), loss.end()).size() > 1);
}

TEST_CASE("train_local_rank counts its devices from 0 on every host") {
    const TinyMnist folder(50);
    const std::string endpoint = "127.0.0.1:" + std::to_string(free_port());
    const auto node = [&](const std::string& number) {
        return Words{"-n",
                     "2",
                     "--nnodes",
                     "2",
                     "--node-rank",
                     number,
                     "--rdzv-endpoint",
                     endpoint,
                     "--rdzv-id",
                     "local-rank-test"} +
               command_of(kName, {"--data", folder.path(), "--json"});
    };
    Job first(node("0")), second(node("1"));
    const int code = first.wait();
    CHECK(second.wait() == 0);
    CHECK(second.out().empty());
    const auto json = parse_output({code, first.out(), first.err()});
    CHECK(json.at("world_size") == 4);
    CHECK(json.at("local_rank") == nlohmann::json({0, 1, 0, 1}));
    CHECK(json.at("train_samples") == nlohmann::json({13, 13, 13, 13}));
    CHECK(json.at("test_samples") == nlohmann::json({13, 13, 12, 12}));
}

TEST_CASE("train_local_rank prints the images and device of each rank and the accuracy") {
    const TinyMnist folder(50);
    const ProcessResult text = run_ranks(3, kName, tiny(folder, 3));
    CHECK(text.code == 0);
    CHECK(contains(text.out, "epoch  3   loss "));
    CHECK(contains(text.out,
                   "rank 2, local rank 2 on cpu: 16 training and 16 test images"));
    CHECK(contains(text.out, "of 50 test images, each counted once"));
    CHECK(contains(text.out, "bitwise identical on all ranks"));

    const auto json = json_of(2, kName, tiny(folder, 2));
    CHECK(json.at("world_size") == 2);
    CHECK(json.at("epochs") == 3);
    CHECK(json.at("batch_size") == 6);
    CHECK(json.at("train_loss").size() == 3);
    CHECK(json.at("device") == "cpu");
    CHECK(json.at("test_accuracy").get<double>() ==
          json.at("test_correct").get<double>() / 50);
}

TEST_CASE("train_local_rank without data prints one line from one rank") {
    const Folder folder;
    for (const int ranks : {1, 3}) {
        CAPTURE(ranks);
        const ProcessResult ended = run_ranks(ranks, kName, {"--data", folder.path()});
        CHECK(error_of(ended, kName).starts_with(kName + ": " + folder.path()));
    }
}

TEST_CASE("train_local_rank prints help and rejects invalid options") {
    check_help(kName, {"--data", "--device", "--epochs", "--batch-size", "--samples",
                       "--lr", "--workers", "--seed", "--json"});
    check_rejects(kName, 2, {"--bogus"}, "--bogus");
    check_rejects(kName, 2, {"--samples", "0"}, "--samples");
    check_rejects(kName, 2, {"--device", "tpu"}, "'tpu' is not a device");
    check_rejects(kName, 2, {"--device", "cuda:99"}, "there is no cuda:99");
    check_rejects(kName, 1, {"--lr", "x"}, "--lr");
}
