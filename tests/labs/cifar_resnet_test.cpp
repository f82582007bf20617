// cifar_resnet as its users run it, on few images.

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/io/safetensors.hpp"
#include "libmini/io/sha256.hpp"
#include "libmini/vision/resnet.hpp"
#include "tests/labs/program_job.hpp"

using namespace mini;
using namespace mini::test;

namespace {

using nlohmann::json;
// Enough samples for the loss to fall, and few enough for a test to take seconds.
const Words kSmall = {"--samples", "32", "--batch-size", "8", "--json"};
// One epoch of the smallest network, for what does not depend on the network.
const Words kShort = kSmall + Words{"--model", "resnet10", "--epochs", "1"};

ProcessResult launched(int ranks, const Words& options) {
    return run_ranks(ranks, "cifar_resnet", options);
}

// Writes CIFAR-10's files with `count` images each. Image i has one colour and class
// i % 10.
void write_cifar10(const Folder& folder, int count) {
    for (const std::string name : {"data_batch_1", "data_batch_2", "data_batch_3",
                                   "data_batch_4", "data_batch_5", "test_batch"}) {
        std::ofstream file(folder / (name + ".bin"), std::ios::binary);
        for (int i = 0; i < count; ++i)
            file << static_cast<char>(i % 10)
                 << std::string(3072, static_cast<char>(25 * (i % 10)));
    }
}

}  // namespace

TEST_CASE(
    "a ResNet learns generated images on one and two ranks and replicas stay equal") {
    for (const int ranks : {1, 2}) {
        CAPTURE(ranks);
        const json job =
            last_json(launched(ranks, kSmall + Words{"--model", "resnet10", "--epochs",
                                                     "4", "--lr", "0.001"}));
        CHECK(job.at("world_size") == ranks);
        const auto losses = job.at("train_loss").get<std::vector<double>>();
        REQUIRE(losses.size() == 4);
        CHECK(losses[0] > 1.5);  // guessing gives ln 10 = 2.3
        CHECK(losses[3] < 0.9 * losses[0]);
        CHECK(job.at("test_accuracy").size() == 4);
        check_replicas(job.at("state_sha256"), ranks);  // running means included
    }
}

TEST_CASE(
    "ranks started by hand connect through --port and train the same as under minirun") {
    const Words place{"--world-size", "2", "--port", std::to_string(free_port())};
    Job second(command_of("cifar_resnet", kShort + place + Words{"--rank", "1"}),
               Screen::kPipes, Program::kItself);
    const json job =
        last_json(run_alone("cifar_resnet", kShort + place + Words{"--rank", "0"}));
    INFO(second.err());
    CHECK(second.wait() == 0);
    CHECK(second.out().empty());
    CHECK(job == last_json(launched(2, kShort)));
}

TEST_CASE("set_epoch is called in each epoch so that no warning is printed") {
    const ProcessResult ended =
        run_program(Words{"env", "MINI_LOG_LEVEL=warning"} +
                    command_of("cifar_resnet",
                               kSmall + Words{"--model", "resnet10", "--epochs", "2"}));
    CHECK(ended.code == 0);
    CHECK(ended.err.empty());
}

TEST_CASE("the saved ResNet has torchvision's names and loads back") {
    const Folder folder;
    const std::string path = folder / "model.safetensors";
    const json job =
        last_json(launched(2, kSmall + Words{"--epochs", "1", "--save", path}));
    const auto file = io::load_safetensors(path);
    CHECK(file.tensors.size() == 122);
    CHECK(file.at("conv1.weight").shape() == Shape{64, 3, 7, 7});
    CHECK(file.at("layer2.0.downsample.1.running_var").shape() == Shape{128});
    CHECK(file.at("layer4.1.bn2.num_batches_tracked").item() == 4);
    CHECK(file.at("fc.weight").shape() == Shape{10, 512});

    // The file's values have the digest that rank 0 reported.
    nn::ResNet model = nn::resnet18({.num_classes = 10});
    model.load_state_dict(file.tensors);
    std::vector<std::byte> bytes;
    for (const auto& [name, tensor] : model.state_dict())
        bytes.insert(bytes.end(), tensor.raw_data(), tensor.raw_data() + tensor.bytes());
    CHECK(job.at("state_sha256")[0] == io::sha256_hex(bytes));
}

TEST_CASE("with --zero training gives bitwise the same ResNet") {
    const Words options{"--samples", "24", "--batch-size", "6", "--model", "resnet10",
                        "--epochs",  "2",  "--json"};
    const json plain = last_json(launched(3, options));
    const json sharded = last_json(launched(3, options + Words{"--zero"}));
    CHECK(sharded.at("state_sha256") == plain.at("state_sha256"));
    CHECK(sharded.at("train_loss") == plain.at("train_loss"));
}

TEST_CASE("with --average-at-end replicas become equal but differ from DDP's result") {
    const json ddp = last_json(launched(2, kShort));
    const json averaged = last_json(launched(2, kShort + Words{"--average-at-end"}));

    // The replicas drift apart, and averaging makes them equal.
    const json& apart = averaged.at("sha256_before_averaging");
    const json& together = averaged.at("state_sha256");
    REQUIRE(apart.size() == 2);
    CHECK(apart[0] != apart[1]);
    check_replicas(together, 2);
    CHECK(together[0] != ddp.at("state_sha256")[0]);
    CHECK(ddp.at("sha256_before_averaging").empty());

    // On one rank, averaging at the end changes nothing.
    const json one = last_json(launched(1, kShort + Words{"--average-at-end"}));
    CHECK(one.at("state_sha256") == last_json(launched(1, kShort)).at("state_sha256"));
}

TEST_CASE("CIFAR-10 is read from its folder and a last batch of one image is skipped") {
    const Folder folder;
    write_cifar10(folder, 5);  // 25 images, 13 per rank: batches of 4, 4, 4 and 1
    const json job =
        last_json(launched(2, {"--data", folder.path(), "--batch-size", "8", "--epochs",
                               "1", "--model", "resnet10", "--json"}));
    CHECK(job.at("train_loss").size() == 1);
}

TEST_CASE("ResNet-50 can be trained") {
    const json job =
        last_json(launched(2, {"--model", "resnet50", "--samples", "8", "--batch-size",
                               "4", "--epochs", "1", "--json"}));
    CHECK(job.at("model") == "resnet50");
    CHECK(job.at("state_sha256")[0] == job.at("state_sha256")[1]);
}

TEST_CASE("cifar_resnet names an invalid option in a one-line error") {
    const std::vector<std::pair<Words, std::string>> cases = {
        {{"--epochs", "0"}, "--epochs"},
        {{"--model", "resnet9"}, "--model"},
        {{"--device", "cuda:99"}, "--device"},
        {{"--device", "tpu"}, "--device"},
        {{"--lr", "nan"}, "--lr: must be at least 0, but is nan"},
        {{"--backend", "pigeons"}, "--backend pigeons is not available in this build"},
        {{"--rank", "2", "--world-size", "2"}, "--rank 2 must be below --world-size 2"},
        {{"--batch-size", "1"}, "--batch-size 1 does not give each"},
        {{"--world-size", "3"}, "--batch-size 128 does not give each"},
        {{"--samples", "9"}, "--batch-size 128 is more than the 9 training images"},
        {{"--zero", "--average-at-end"}, "--zero needs gradients that are equal"},
        {{"--save", "/"}, "--save / is a folder"},
        {{"--save", "/nonexistent/model"}, "the folder /nonexistent does not exist"}};
    for (const auto& [options, part] : cases)
        check_rejects("cifar_resnet", 0, options, part);

    // The launcher and the options would both set the rank.
    const ProcessResult both = launched(2, {"--rank", "0"});
    CHECK(both.code == 2);
    CHECK(contains(both.err, "the launcher sets these; leave them out"));
}

TEST_CASE(
    "cifar_resnet without its data prints one line that names the file to download") {
    const Folder folder;
    const ProcessResult itself = run_alone("cifar_resnet", {"--data", folder.path()});
    CHECK(itself.code == 1);
    CHECK(lines(itself.err).size() == 1);
    CHECK(contains(itself.err, "download cifar-10-binary.tar.gz"));

    CHECK(contains(error_of(launched(2, {"--data", folder.path()}), "cifar_resnet"),
                   "cifar_resnet: " + folder.path()));
}
