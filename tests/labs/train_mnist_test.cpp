// train_mnist as its users run it: under minirun, with ranks as processes and real files.
//
// The tests that compare results with PyTorch need the real MNIST in MINI_DATA_DIR/mnist;
// without it they print a warning and return. The other tests train on a tiny MNIST or on
// the embedded digits.

#include <signal.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/io/sha256.hpp"
#include "libmini/nn/models.hpp"
#include "tests/labs/train_mnist_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/tools/job.hpp"

using namespace mini;
using namespace mini::test;

namespace {

// Returns the digest of the parameters' bytes, one after the other.
std::string digest_of(const std::vector<Tensor>& parameters) {
    std::vector<std::byte> bytes;
    for (const Tensor& x : parameters)
        bytes.insert(bytes.end(), x.raw_data(), x.raw_data() + x.bytes());
    return io::sha256_hex(bytes);
}

}  // namespace

TEST_CASE("ten steps in file order give PyTorch's losses on 1 and 2 and 4 ranks") {
    if (lacks_mnist()) return;
    struct Case {
        int ranks;
        Words options;
        size_t golden;
        double tolerance;
    };
    // With dropout, one rank draws PyTorch's masks.
    const Case run =
        GENERATE(Case{1, {"--no-dropout"}, 0, 1e-4}, Case{2, {"--no-dropout"}, 0, 1e-4},
                 Case{4, {"--no-dropout"}, 0, 1e-4}, Case{1, {}, 1, 1e-3});
    CAPTURE(run.ranks, run.options);
    const auto cases = golden_cases("convnet_losses");
    REQUIRE(cases.size() == 2);
    REQUIRE(cases[1].at("mode").get<std::string>().starts_with("train-mode"));
    const auto& expected = cases[run.golden].at("losses");
    REQUIRE(expected.size() == 10);
    const Words options{"--order", "file", "--steps",      "10",
                        "--seed",  "1234", "--batch-size", "128"};
    const auto json = results(run.ranks, options + run.options);
    CHECK(distance(json.at("step_loss"), expected) < run.tolerance);
}

TEST_CASE("separate rounding starts from the weights of PyTorch without AVX2") {
    const TinyMnist folder(20);
    const auto digest = [&](const Words& more) {
        const Words options{"--data", folder.path(), "--steps",      "1",
                            "--lr",   "0",           "--batch-size", "20"};
        return results(1, options + more).at("parameters_sha256").at(0);
    };
    const auto initial = [](Rounding rounding) {
        default_generator().set_rounding(rounding);
        manual_seed(1234);
        const nn::ConvNet model;
        default_generator().set_rounding(Rounding::kFused);
        return digest_of(model.parameters());
    };
    CHECK(digest({}) == initial(Rounding::kFused));
    CHECK(digest({"--rounding", "separate"}) == initial(Rounding::kSeparate));
}

TEST_CASE("one epoch of MNIST on two ranks reaches PyTorch's accuracy") {
    if (lacks_mnist()) return;
    const auto json = results(2, {"--epochs", "1", "--seed", "1234"});
    CHECK(json.at("dataset") == "mnist");
    const double accuracy = json.at("test_accuracy")[0];
    CHECK(accuracy > 0.908 - 0.01);  // PyTorch on the same job: 0.908
}

TEST_CASE("the embedded digits are learnt to 95 % in two epochs") {
    const auto json = results(2, {"--data", "digits", "--epochs", "2"});
    CHECK(json.at("dataset") == "digits");
    const double accuracy = json.at("test_accuracy")[1];
    CHECK(accuracy >= 0.95);
}

TEST_CASE("the JSON object has every field and its lists have the right lengths") {
    const TinyMnist folder(60);
    const auto json = results(2, {"--data", folder.path(), "--epochs", "2",
                                  "--batch-size", "20", "--bucket-cap-mb", "0.05"});
    CHECK(json.at("world_size") == 2);
    CHECK(json.at("backend") == "ring");
    CHECK(json.at("sync") == "ddp");
    CHECK(json.at("device") == "cpu");
    CHECK(json.at("dataset") == "mnist");
    CHECK(json.at("epochs") == 2);
    CHECK(json.at("train_loss").size() == 2);
    CHECK(json.at("step_loss").size() == 6);
    CHECK(json.at("test_accuracy").size() == 2);
    CHECK(json.at("seconds_per_epoch").size() == 2);
    CHECK(json.at("samples_per_second").get<double>() > 0.0);
    CHECK(json.at("parameters_sha256").size() == 2);
    CHECK(json.at("bucket_bytes") == nlohmann::json({66240, 21120}));
}

TEST_CASE("all ranks end with the same parameters and a second run reproduces them") {
    const TinyMnist folder(84);
    for (const int ranks : {1, 2, 3, 4, 7}) {
        CAPTURE(ranks);
        for (const std::string sync : {"ddp", "average", "flat", "overlap"}) {
            const Words options{"--data", folder.path(), "--epochs",     "2",
                                "--sync", sync,          "--batch-size", "84"};
            const auto digests = results(ranks, options).at("parameters_sha256");
            check_replicas(digests, ranks);
            if (ranks == 7)  // where most messages race
                CHECK(results(ranks, options).at("parameters_sha256") == digests);
        }
    }
}

TEST_CASE("without synchronisation replicas drift apart and the summary reports it") {
    const TinyMnist folder(40);
    const ProcessResult ended = train(2, {"--data", folder.path(), "--epochs", "1",
                                          "--sync", "none", "--batch-size", "20"});
    CHECK(ended.code == 0);
    CHECK(contains(ended.out, "differ between ranks"));
}

TEST_CASE("ranks as threads or more threads per rank train the same parameters") {
    const TinyMnist folder(60);
    const auto digest = [&](int processes, const Words& more) {
        const Words options{"--data", folder.path(),  "--epochs",
                            "2",      "--batch-size", "30"};
        return results(processes, options + more).at("parameters_sha256");
    };
    CHECK(digest(1, {"--partition", "tutorial", "--backend", "threads", "--ranks",
                     "3"}) == digest(3, {"--partition", "tutorial"}));
    CHECK(digest(1, {"--threads", "3", "--workers", "0"}) == digest(1, {}));
}

TEST_CASE(
    "in file order ranks share each batch and drop only the remainder of the last "
    "batch") {
    const TinyMnist folder(27);  // batches of 12, 12 and 3
    const Words options{"--data", folder.path(),  "--order", "file",        "--epochs",
                        "1",      "--batch-size", "12",      "--no-dropout"};
    const auto alone = results(1, options).at("step_loss").get<std::vector<double>>();
    REQUIRE(alone.size() == 3);
    for (const int ranks : {3, 4}) {
        CAPTURE(ranks);
        const auto shared =
            results(ranks, options).at("step_loss").get<std::vector<double>>();
        REQUIRE(shared.size() ==
                (ranks == 3 ? 3u : 2u));  // 4 ranks skip the batch of 3 samples
        for (size_t i = 0; i < shared.size(); ++i)
            CHECK(std::abs(shared[i] - alone[i]) < 1e-5);
    }
}

TEST_CASE("the saved file holds the trained parameters") {
    const TinyMnist folder(40);
    const std::string path = folder.path() + "/model.safetensors";
    const auto json = results(2, {"--data", folder.path(), "--epochs", "1",
                                  "--batch-size", "20", "--save", path});
    const auto file = io::load_safetensors(path);
    CHECK(file.tensors.size() == 8);
    CHECK(file.at("conv2.weight").shape() == Shape{20, 10, 5, 5});
    CHECK(file.at("fc2.bias").shape() == Shape{10});
    std::vector<Tensor> parameters;
    for (const std::string layer : {"conv1", "conv2", "fc1", "fc2"})
        for (const std::string part : {".weight", ".bias"})
            parameters.push_back(file.at(layer + part));
    CHECK(json.at("parameters_sha256")[0] == digest_of(parameters));
}

TEST_CASE("compressed gradients train the digits about as well as uncompressed ones") {
    const auto accuracy = [](const std::string& compress) {
        const auto json =
            results(2, {"--data", "digits", "--steps", "320", "--compress", compress});
        check_replicas(json.at("parameters_sha256"), 2);
        return json.at("test_accuracy").back().get<double>();
    };
    const double exact = accuracy("none");
    for (const std::string compress : {"fp16", "bf16", "powersgd", "topk"}) {
        CAPTURE(compress);
        // In the first epoch top-k is late: it sends 1 % of the gradients in a step.
        CHECK(accuracy(compress) > exact - (compress == "topk" ? 0.02 : 0.005));
    }
}

TEST_CASE("on a slow link some all-reduces overlap with the backward pass") {
    const auto json = results(2, {"--data", "digits", "--steps", "30", "--link", "1Gbit",
                                  "--sync", "ddp", "--bucket-cap-mb", "0.02"});
    const auto& statistics = json.at("statistics");
    CHECK(statistics.at("iterations") == 30);
    CHECK(statistics.at("communication_s") > 0.0);
    CHECK(statistics.at("gradients").size() == 8);
    double last = 0.0;
    for (const auto& gradient : statistics.at("gradients")) {
        CHECK(gradient.at("ready_s") >= last);
        last = gradient.at("ready_s");
    }
    CHECK(last <= statistics.at("backward_s"));
    CHECK(statistics.at("hidden") > 0.0);
    CHECK(statistics.at("hidden") <= 1.0);
}
