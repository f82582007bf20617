// mnist_tutorial as its users run it, compared with the equivalent train_mnist.

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/datasets/digits.hpp"
#include "tests/labs/train_mnist_job.hpp"

using namespace mini;
using namespace mini::test;

namespace {

using nlohmann::json;

// Writes a small MNIST that can be learnt: the first 480 embedded digits. 1, 2, 3 and 4
// divide 480, so each rank gets an equal part.
void write_digits(const std::string& folder) {
    constexpr int64_t kCount = 480;
    for (const bool train : {true, false}) {
        const std::string part = train ? "/train" : "/t10k";
        const auto digits = data::make_digits(train, kCount);
        std::vector<uint8_t> labels, pixels;
        for (int64_t i = 0; i < kCount; ++i) {
            labels.push_back(static_cast<uint8_t>(digits->label(i)));
            pixels.insert(pixels.end(), digits->pixels(i), digits->pixels(i) + 784);
        }
        const uint8_t high = kCount >> 8, low = kCount & 255;
        write_idx(folder + part + "-images-idx3-ubyte",
                  {0, 0, 8, 3, 0, 0, high, low, 0, 0, 0, 28, 0, 0, 0, 28}, pixels);
        write_idx(folder + part + "-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, high, low},
                  labels);
    }
}

ProcessResult launched(int ranks, const Words& options) {
    return run_ranks(ranks, "mnist_tutorial", options);
}
// Runs mnist_tutorial without a launcher: the program spawns its ranks.
ProcessResult alone(const Words& options) { return run_alone("mnist_tutorial", options); }

}  // namespace

TEST_CASE("mnist_tutorial learns digits on 1 to 4 ranks and replicas stay equal") {
    const Folder folder;
    write_digits(folder.path());
    const Words options{"--data", folder.path(), "--lr", "0.05",  "--batch-size",
                        "24",     "--epochs",    "5",    "--json"};
    for (const int ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        const json job = last_json(launched(ranks, options));
        const auto losses = job.at("train_loss").get<std::vector<double>>();
        REQUIRE(losses.size() == 5);
        CHECK(losses.front() > 2.0);  // guessing gives ln 10 = 2.3
        CHECK(losses.back() < 1.5);
        check_replicas(job.at("parameters_sha256"), ranks);
    }
}

TEST_CASE("mnist_tutorial is bitwise identical to train_mnist with --sync average") {
    const Folder folder;
    write_digits(folder.path());
    const Words options{"--data", folder.path(), "--batch-size", "24", "--epochs", "1"};
    const Words averaging =
        options + Words{"--sync", "average", "--partition", "tutorial"};
    for (const int ranks : {1, 2, 3, 4}) {
        CAPTURE(ranks);
        const json expected = results(ranks, averaging);
        const json job = last_json(launched(ranks, options + Words{"--json"}));
        CHECK(job.at("world_size") == ranks);
        CHECK(distance(job.at("train_loss"), expected.at("train_loss")) < 1e-6);
        CHECK(job.at("parameters_sha256") == expected.at("parameters_sha256"));
    }
}

TEST_CASE("ranks that mnist_tutorial spawns train the same as under a launcher") {
    const Folder folder;
    write_digits(folder.path());
    const Words options{"--data", folder.path(), "--epochs", "1", "--json"};
    CHECK(last_json(alone(options)) == last_json(launched(2, options)));
    CHECK(last_json(alone(options + Words{"--spawn", "3"})) ==
          last_json(launched(3, options)));
}

TEST_CASE("a rank's batch size is an integer even if the world size does not divide it") {
    const TinyMnist folder(60);
    const Words options{"--data", folder.path(), "--epochs", "1", "--json"};
    CHECK(last_json(launched(2, options)).at("batch_size") == 64);
    CHECK(last_json(launched(3, options)).at("batch_size") == 42);
    CHECK(last_json(launched(7, options)).at("batch_size") == 18);
}

TEST_CASE("mnist_tutorial --local trains by local SGD and replicas stay equal") {
    const TinyMnist folder(60);
    const Words options{"--data",       folder.path(), "--epochs", "2",
                        "--batch-size", "12",          "--json"};
    const json each_step = last_json(launched(2, options));
    const json local = last_json(launched(2, options + Words{"--local", "4"}));
    check_replicas(local.at("parameters_sha256"), 2);
    CHECK(local.at("parameters_sha256")[0] != each_step.at("parameters_sha256")[0]);
}

TEST_CASE("mnist_tutorial prints the mean loss of all ranks once per epoch") {
    const TinyMnist folder(60);
    const ProcessResult ended = launched(2, {"--data", folder.path(), "--epochs", "2"});
    CHECK(ended.code == 0);
    const auto text = lines(ended.out);
    REQUIRE(text.size() == 4);
    CHECK(contains(text[0], "data: MNIST, 60 + 60 images from "));
    CHECK(contains(text[1], "epoch:  0, loss: 2."));
    CHECK(contains(text[2], "epoch:  1, loss: 2."));
    CHECK(contains(text[2], "mean of 2 ranks"));
    CHECK(contains(text[3], "replicas   bitwise identical"));
}

TEST_CASE("mnist_tutorial names an invalid option in a one-line error") {
    const std::vector<std::pair<Words, std::string>> cases = {
        {{"--epochs", "0"}, "--epochs"},
        {{"--lr", "-1"}, "--lr"},
        {{"--lr", "nan"}, "--lr: must be at least 0, but is nan"},
        {{"--speed", "9"}, "--speed"},
        {{"--spawn", "0"}, "--spawn"},
        {{"--local", "-1"}, "--local"},
        {{"--spawn", "3", "--batch-size", "2"},
         "--batch-size 2 is too small for 3 ranks; try 3"}};
    for (const auto& [options, part] : cases)
        check_rejects("mnist_tutorial", 0, options, part);

    // A launcher and --spawn would both start ranks.
    const ProcessResult both = launched(2, {"--spawn", "2"});
    CHECK(both.code == 2);
    CHECK(contains(both.err, "--spawn: a launcher has started the ranks already"));
}

TEST_CASE("mnist_tutorial without its data prints one line that names the folder") {
    const ProcessResult itself = alone({"--data", "/nonexistent"});
    CHECK(itself.code == 1);
    CHECK(lines(itself.err).size() == 1);
    CHECK(contains(itself.err, "mnist_tutorial: /nonexistent: expected a folder"));

    CHECK(contains(error_of(launched(2, {"--data", "/nonexistent"}), "mnist_tutorial"),
                   "mnist_tutorial: /nonexistent: expected a folder"));
}
