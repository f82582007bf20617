// train_mnist saves and resumes, under minirun, on a tiny MNIST of 7 steps per epoch. A
// resumed job and an uninterrupted job must report bitwise identical values, and bitwise
// identical parameters on every rank.

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "libmini/io/checkpoint.hpp"
#include "libmini/io/safetensors.hpp"
#include "tests/labs/train_mnist_job.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;

namespace {

// A folder with a tiny MNIST, and a path for checkpoints.
class Fixture {
  public:
    // Options of a job with 7 steps per epoch.
    Words job(const Words& options = {}) const {
        return Words{"--data", folder_.path(), "--batch-size", "12", "--seed", "5"} +
               options;
    }
    Words saving(const Words& options = {}) const {
        return job(options) + Words{"--checkpoint", path()};
    }
    std::string path() const { return folder_.path() + "/run"; }
    std::vector<int64_t> saved() const { return io::CheckpointFolder(path()).list(); }

  private:
    const TinyMnist folder_{84};
};

// Returns the results that must not depend on interruptions.
nlohmann::json outcome(const nlohmann::json& json) {
    nlohmann::json result;
    for (const char* name :
         {"parameters_sha256", "train_loss", "step_loss", "test_accuracy", "lr"})
        result[name] = json.at(name);
    return result;
}

// Returns the only error line of a run that must fail with exit code `code`.
std::string error_line(int ranks, const Words& options, int code) {
    return error_of(train(ranks, options), "train_mnist", code);
}

// Kills one of the job's ranks, once all ranks run.
void kill_a_rank(const Job& job, size_t ranks, size_t which) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::vector<pid_t> pids;
    while (pids.size() != ranks) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        pids = ranks_of(job.pid());
    }
    kill(pids[which], SIGKILL);
}

}  // namespace

TEST_CASE("a resumed run is bitwise identical to an uninterrupted one") {
    struct Case {
        int ranks;
        Words options;
    };
    // The third case has small buckets and a high learning rate on 3 ranks: it fails if
    // the resumed ring adds in a different order.
    const Case run = GENERATE(
        Case{1, {}}, Case{2, {"--workers", "0", "--compress", "bf16"}},
        Case{3, {"--bucket-cap-mb", "0.01", "--lr", "0.3"}},
        Case{2,
             {"--optimizer", "adamw", "--zero", "--scheduler", "cosine", "--partition",
              "tutorial"}},
        Case{3, {"--sync", "flat", "--optimizer", "adam", "--scheduler", "step"}},
        Case{1, {"--scheduler", "warmup", "--order", "file", "--workers", "2"}},
        Case{4, {"--zero", "--sync", "average", "--no-dropout"}});
    CAPTURE(run.ranks, run.options);
    const Fixture fixture;
    const auto whole =
        results(run.ranks, fixture.job(run.options) + Words{"--epochs", "4"});
    CHECK(whole.at("resumed_at_step").is_null());

    // Stop after the first step, in mid-epoch, at an epoch's end, and one step later.
    const Words saving = fixture.saving(run.options) + Words{"--epochs", "4"};
    for (const char* steps : {"1", "5", "14", "15"})
        results(run.ranks, saving + Words{"--steps", steps});
    const auto resumed = results(run.ranks, saving);
    CHECK(resumed.at("resumed_at_step") == 15);
    CHECK(outcome(resumed) == outcome(whole));

    // Resume at the end: no step is left, and the results are the same.
    const auto again = results(run.ranks, saving);
    CHECK(again.at("resumed_at_step") == 28);
    CHECK(outcome(again) == outcome(whole));
}

TEST_CASE("ranks as threads resume a checkpoint that ranks as processes saved") {
    const Fixture fixture;
    const Words four{"--epochs", "4"};
    const auto whole = results(3, fixture.job(four));
    results(3, fixture.saving(four) + Words{"--steps", "10"});
    const auto resumed =
        results(1, fixture.saving(four) + Words{"--backend", "threads", "--ranks", "3"});
    CHECK(resumed.at("resumed_at_step") == 10);
    CHECK(outcome(resumed) == outcome(whole));
}

TEST_CASE(
    "a job whose ranks are killed repeatedly is bitwise identical to an undisturbed "
    "one") {
    const int ranks = GENERATE(1, 2, 3);
    const bool fresh = ranks == 2;
    CAPTURE(ranks);
    const Fixture fixture;
    const Words options{"--epochs", "50", "--optimizer", "adam"};
    const auto undisturbed = results(ranks, fixture.job(options));

    // With --fresh, checkpoints of an older and longer run must be ignored; but after a
    // restart by minirun, the job must still resume from its own checkpoints.
    Words words = fixture.saving(options) + Words{"--every", "5"};
    if (fresh) {
        results(ranks, fixture.saving({"--epochs", "60"}));
        words.push_back("--fresh");
    }
    Job job(Words{"-n", std::to_string(ranks), "--max-restarts", "9", kProgram} + words);
    std::mt19937 random(2026);
    for (unsigned k = 0; k < 3; ++k) {
        if (k > 0) job.wait_for("restart " + std::to_string(k) + " of 9");
        const unsigned epoch = 10 + 10 * k + random() % 8;
        job.wait_for("epoch " + std::to_string(epoch) + "   loss");
        kill_a_rank(job, static_cast<size_t>(ranks),
                    random() % static_cast<unsigned>(ranks));
    }
    INFO(job.err());
    REQUIRE(job.wait() == 0);
    CHECK(contains(job.err(), "restart 3 of 9"));
    CHECK(contains(job.out(), "resumed from " + fixture.path() + "/checkpoint-"));

    const auto json = results(ranks, fixture.saving(options));
    CHECK(json.at("resumed_at_step") == 350);
    CHECK(outcome(json) == outcome(undisturbed));
}

TEST_CASE("checkpoints are saved every N steps or each epoch and the newest are kept") {
    const Fixture fixture;
    const Words two{"--epochs", "2"};
    SECTION("saves each epoch and at the last step") {
        results(2, fixture.saving({"--steps", "9"}));
        CHECK(fixture.saved() == std::vector<int64_t>{7, 9});
    }
    SECTION("saves every 5 steps and at the end") {
        results(2, fixture.saving(two) + Words{"--every", "5"});
        CHECK(fixture.saved() == std::vector<int64_t>{5, 10, 14});
    }
    SECTION("keeps the newest 2") {
        results(2, fixture.saving(two) + Words{"--every", "3", "--keep", "2"});
        CHECK(fixture.saved() == std::vector<int64_t>{12, 14});
    }
    SECTION("removes existing checkpoints with --fresh") {
        results(2, fixture.saving(two));
        const auto json = results(2, fixture.saving({"--steps", "3", "--fresh"}));
        CHECK(json.at("resumed_at_step").is_null());
        CHECK(fixture.saved() == std::vector<int64_t>{3});
    }
}

TEST_CASE("a damaged checkpoint is skipped and the previous one is used") {
    const Fixture fixture;
    const Words two{"--epochs", "2"};
    const auto whole = results(2, fixture.saving(two) + Words{"--every", "4"});
    REQUIRE(fixture.saved() == std::vector<int64_t>{8, 12, 14});
    const io::CheckpointFolder folder(fixture.path());
    fs::resize_file(folder.path(14), 10'000);
    const auto resumed = results(2, fixture.saving(two));
    CHECK(resumed.at("resumed_at_step") == 12);
    CHECK(outcome(resumed) == outcome(whole));

    for (const int64_t step : fixture.saved()) fs::resize_file(folder.path(step), 9);
    CHECK(contains(error_line(2, fixture.saving(two), 1), "none can be loaded"));
}

TEST_CASE("a different number of ranks resumes with the same batches") {
    // Without dropout only rounding depends on the number of ranks.
    const Fixture fixture;
    const Words options{"--epochs", "3", "--no-dropout", "--optimizer", "adam", "--zero"};
    const auto whole = results(1, fixture.job(options));
    results(2, fixture.saving(options) + Words{"--steps", "10"});
    results(3, fixture.saving(options) + Words{"--steps", "14"});
    const auto resumed = results(1, fixture.saving(options));
    CHECK(resumed.at("resumed_at_step") == 14);
    REQUIRE(resumed.at("step_loss").size() == 21);
    CHECK(distance(resumed.at("step_loss"), whole.at("step_loss")) < 1e-4);
}

TEST_CASE(
    "a checkpoint of a run with other options is rejected with both values on one line") {
    const Fixture fixture;
    results(2, fixture.saving({"--epochs", "2"}));
    const std::string other =
        error_line(2,
                   {"--data", fixture.path() + "/..", "--seed", "6", "--batch-size", "14",
                    "--no-dropout", "--lr", "0.02", "--checkpoint", fixture.path()},
                   2);
    CHECK(
        contains(other,
                 "checkpoint-00000014.safetensors is of a run with other options: "
                 "--batch-size was 12 and is 14, --lr was 0.01 and is 0.02, --no-dropout "
                 "was no and is yes, --seed was 5 and is 6; pass its options"));
    CHECK(contains(error_line(2, fixture.saving({"--optimizer", "adam"}), 2),
                   "--momentum was 0.5 and is nothing, --optimizer was sgd and is adam"));
    CHECK(contains(error_line(2, fixture.saving({"--steps", "13"}), 2),
                   "is at step 14, in epoch 3, beyond the end"));
    CHECK(
        contains(error_line(2, fixture.saving({"--epochs", "1"}), 2), "beyond the end"));
}

TEST_CASE("a checkpoint that does not fit is rejected with its first fault") {
    const Fixture fixture;
    const Words options =
        Words{"--epochs", "3"} + (GENERATE(false, true) ? Words{"--zero"} : Words{});
    results(2, fixture.saving(options) + Words{"--steps", "10"});
    const std::string path = io::CheckpointFolder(fixture.path()).path(10);
    io::Safetensors file = io::load_safetensors(path);
    const io::Safetensors good = file;
    const auto rename = [&](const std::string& from, const std::string& to) {
        for (auto& [name, tensor] : file.tensors)
            if (name == from) name = to;
    };
    const auto replace = [&](const std::string& replaced, const Tensor& by) {
        for (auto& [name, tensor] : file.tensors)
            if (name == replaced) tensor = by;
    };
    const auto rejected_with = [&](const std::string& fault) {
        io::save_safetensors(path, file.tensors, file.metadata);
        const std::string message = error_line(2, fixture.saving(options), 1);
        CAPTURE(message);
        CHECK(contains(message, path + ": does not fit this run: "));
        CHECK(contains(message, fault));
        file = good;
    };

    // Entries of the run state.
    rename("epoch_losses", "losses");
    rejected_with("run: missing: epoch_losses");
    file.metadata.erase("results.lr");
    rejected_with("run: missing: results.lr");
    file.metadata["results.train_loss"] = "";
    rejected_with("run: results.train_loss has 0 entries, not 1");
    file.metadata["step"] = "many";
    rejected_with("run: step: \"many\" is not a number");
    file.metadata["position"] = "-3";
    rejected_with("run: position: -3 is invalid");
    file.metadata["position"] = "0";
    rejected_with("run: unexpected: epoch_");

    // Entries of the model and the optimizer.
    rename("model.fc1.bias", "model.fc3.bias");
    rejected_with("missing: fc1.bias");
    rename("optimizer.state.2.momentum_buffer", "optimizer.state.9.momentum_buffer");
    rejected_with("state.9.momentum_buffer is unknown");
    rename("optimizer.state.4.momentum_buffer", "optimizer.state.4.exp_avg");
    rejected_with("state.4.exp_avg is unknown");

    // Tensors of other shapes and dtypes.
    replace("generators", Tensor::zeros({2, 7}));
    rejected_with("run: generators is float32 (2, 7), not uint8 (2, 2544)");
    replace("gradient_order", Tensor::from(std::vector<int64_t>{0, 1}, {1, 2}));
    rejected_with("run: ");
    replace("model.fc2.weight", Tensor::zeros({10, 51}));
    rejected_with(
        "fc2.weight: the module has float32 (10, 50), the state float32 (10, 51)");

    // A file of another program.
    file = {.tensors = {{"w", Tensor::zeros({3})}}, .metadata = {}};
    rejected_with("run: missing: step");
}

TEST_CASE(
    "with --zero results are bitwise identical and schedulers set the learning rates") {
    const Fixture fixture;
    const std::string optimizer = GENERATE("sgd", "adam", "adamw");
    CAPTURE(optimizer);
    const Words options{"--epochs", "3", "--optimizer", optimizer, "--scheduler", "step"};
    const auto plain = results(3, fixture.job(options));
    CHECK(outcome(results(3, fixture.job(options) + Words{"--zero"})) == outcome(plain));
    const double first = optimizer == "sgd" ? 0.01 : 0.001;
    const auto rates = plain.at("lr").get<std::vector<double>>();
    REQUIRE(rates.size() == 3);
    CHECK(rates == std::vector<double>{first, first * 0.7, first * 0.7 * 0.7});
}

TEST_CASE("a file that is given as the folder of checkpoints is an error of one line") {
    const Fixture fixture;
    const std::string file = fixture.path() + "/../train-labels-idx1-ubyte";
    CHECK(contains(error_line(1, fixture.job({"--checkpoint", file}), 1),
                   "creating the folder failed"));
}
