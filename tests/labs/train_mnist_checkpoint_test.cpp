// train_mnist saves and resumes: whole runs under minirun, on a tiny MNIST of 7 steps an
// epoch. What is compared is bits: the parameters of every rank, and all that was
// reported on the way.

#include <signal.h>

#include <chrono>
#include <cmath>
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

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// A folder with a tiny MNIST, and one for checkpoints.
class Workshop {
  public:
    Workshop() { write_tiny_mnist(folder_.path(), 84); }

    // A recipe of 7 steps per epoch.
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
    Folder folder_;
};

// What a run comes to, whatever way it went.
nlohmann::json outcome(const nlohmann::json& json) {
    nlohmann::json result;
    for (const char* name :
         {"parameters_sha256", "train_loss", "step_loss", "test_accuracy", "lr"})
        result[name] = json.at(name);
    return result;
}

// The one line that train_mnist says in a run that must fail.
std::string complaint(int ranks, const Words& options, int code) {
    const Ended ended = train(ranks, options);
    CHECK(ended.code == code);
    std::vector<std::string> said;
    for (const std::string& line : lines(ended.err))
        if (line.starts_with("train_mnist: ")) said.push_back(line);
    CAPTURE(ended.err);
    REQUIRE(said.size() == 1);
    return said.front();
}

// Kills one of the job's ranks, once they all run.
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

TEST_CASE("a run resumed in mid-epoch and at its end has the bits of one in one piece") {
    struct Case {
        int ranks;
        Words options;
    };
    // Small buckets and a high rate on 3 ranks: a ring that adds in a different order shows.
    const Case run = GENERATE(
        Case{1, {}}, Case{2, {"--workers", "0", "--compress", "bf16"}},
        Case{3, {"--bucket-cap-mb", "0.01", "--lr", "0.3"}},
        Case{2,
             {"--optimizer", "adamw", "--zero", "--scheduler", "cosine", "--streams",
              "separate", "--partition", "tutorial"}},
        Case{3, {"--sync", "flat", "--optimizer", "adam", "--scheduler", "step"}},
        Case{1, {"--scheduler", "warmup", "--order", "file", "--workers", "2"}},
        Case{4, {"--zero", "--sync", "average", "--no-dropout"}});
    CAPTURE(run.ranks, run.options);
    const Workshop workshop;
    const auto whole =
        results(run.ranks, workshop.job(run.options) + Words{"--epochs", "4"});
    CHECK(whole.at("resumed_at_step").is_null());

    // Stop after the first step, in mid-epoch, at an epoch's end, and one step after it.
    const Words saving = workshop.saving(run.options) + Words{"--epochs", "4"};
    for (const char* steps : {"1", "5", "14", "15"})
        results(run.ranks, saving + Words{"--steps", steps});
    const auto resumed = results(run.ranks, saving);
    CHECK(resumed.at("resumed_at_step") == 15);
    CHECK(outcome(resumed) == outcome(whole));

    // Once more: there is nothing left to do, and the same to tell.
    const auto again = results(run.ranks, saving);
    CHECK(again.at("resumed_at_step") == 28);
    CHECK(outcome(again) == outcome(whole));
}

TEST_CASE("ranks as threads resume what ranks as processes saved") {
    const Workshop workshop;
    const Words four{"--epochs", "4"};
    const auto whole = results(3, workshop.job(four));
    results(3, workshop.saving(four) + Words{"--steps", "10"});
    const auto resumed =
        results(1, workshop.saving(four) + Words{"--backend", "threads", "--ranks", "3"});
    CHECK(resumed.at("resumed_at_step") == 10);
    CHECK(outcome(resumed) == outcome(whole));
}

TEST_CASE("a job whose ranks are killed again and again ends with undisturbed bits") {
    const int ranks = GENERATE(1, 2, 3);
    const bool fresh = ranks == 2;
    CAPTURE(ranks);
    const Workshop workshop;
    const Words options{"--epochs", "80", "--optimizer", "adam"};
    const auto undisturbed = results(ranks, workshop.job(options));

    // With --fresh, what an older and longer run has left must play no part; and
    // restarted by minirun, the job must go on all the same.
    Words words = workshop.saving(options) + Words{"--every", "5"};
    if (fresh) {
        results(ranks, workshop.saving({"--epochs", "100"}));
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
    CHECK(contains(job.out(), "resumed from " + workshop.path() + "/checkpoint-"));

    const auto json = results(ranks, workshop.saving(options));
    CHECK(json.at("resumed_at_step") == 560);
    CHECK(outcome(json) == outcome(undisturbed));
}

TEST_CASE("checkpoints come every so many steps or each epoch, and the last ones stay") {
    const Workshop workshop;
    const Words two{"--epochs", "2"};
    SECTION("each epoch, and where the steps end") {
        results(2, workshop.saving({"--steps", "9"}));
        CHECK(workshop.saved() == std::vector<int64_t>{7, 9});
    }
    SECTION("every 5 steps, and at the end") {
        results(2, workshop.saving(two) + Words{"--every", "5"});
        CHECK(workshop.saved() == std::vector<int64_t>{5, 10, 14});
    }
    SECTION("the last 2") {
        results(2, workshop.saving(two) + Words{"--every", "3", "--keep", "2"});
        CHECK(workshop.saved() == std::vector<int64_t>{12, 14});
    }
    SECTION("a fresh start removes those there were") {
        results(2, workshop.saving(two));
        const auto json = results(2, workshop.saving({"--steps", "3", "--fresh"}));
        CHECK(json.at("resumed_at_step").is_null());
        CHECK(workshop.saved() == std::vector<int64_t>{3});
    }
}

TEST_CASE("a damaged checkpoint is passed over for the one before it") {
    const Workshop workshop;
    const Words two{"--epochs", "2"};
    const auto whole = results(2, workshop.saving(two) + Words{"--every", "4"});
    REQUIRE(workshop.saved() == std::vector<int64_t>{8, 12, 14});
    const io::CheckpointFolder folder(workshop.path());
    fs::resize_file(folder.path(14), 10'000);
    const auto resumed = results(2, workshop.saving(two));
    CHECK(resumed.at("resumed_at_step") == 12);
    CHECK(outcome(resumed) == outcome(whole));

    for (const int64_t step : workshop.saved()) fs::resize_file(folder.path(step), 9);
    CHECK(contains(complaint(2, workshop.saving(two), 1), "none of them loads"));
}

TEST_CASE("another number of ranks goes on with the same batches") {
    // Without dropout only rounding depends on how many share a batch.
    const Workshop workshop;
    const Words options{"--epochs", "3", "--no-dropout", "--optimizer", "adam", "--zero"};
    const auto whole = results(1, workshop.job(options));
    results(2, workshop.saving(options) + Words{"--steps", "10"});
    results(3, workshop.saving(options) + Words{"--steps", "14"});
    const auto resumed = results(1, workshop.saving(options));
    CHECK(resumed.at("resumed_at_step") == 14);
    const auto expected = whole.at("step_loss").get<std::vector<double>>();
    const auto losses = resumed.at("step_loss").get<std::vector<double>>();
    REQUIRE(losses.size() == 21);
    for (size_t i = 0; i < losses.size(); ++i) {
        CAPTURE(i);
        CHECK(std::abs(losses[i] - expected[i]) < 1e-4);
    }
}

TEST_CASE("a run with other options is refused, in one line with both values") {
    const Workshop workshop;
    results(2, workshop.saving({"--epochs", "2"}));
    const std::string other =
        complaint(2,
                  {"--data", workshop.path() + "/..", "--seed", "6", "--batch-size", "14",
                   "--no-dropout", "--lr", "0.02", "--checkpoint", workshop.path()},
                  2);
    CHECK(
        contains(other,
                 "checkpoint-00000014.safetensors is of a run with other options: "
                 "--batch-size was 12 and is 14, --lr was 0.01 and is 0.02, --no-dropout "
                 "was no and is yes, --seed was 5 and is 6; give those it had"));
    CHECK(contains(complaint(2, workshop.saving({"--optimizer", "adam"}), 2),
                   "--momentum was 0.5 and is nothing, --optimizer was sgd and is adam"));
    CHECK(contains(complaint(2, workshop.saving({"--steps", "13"}), 2),
                   "is at step 14, in epoch 3, beyond the end"));
    CHECK(
        contains(complaint(2, workshop.saving({"--epochs", "1"}), 2), "beyond the end"));
}

TEST_CASE("a checkpoint that does not fit is refused, with the list of what is wrong") {
    const Workshop workshop;
    const Words options =
        Words{"--epochs", "3"} + (GENERATE(false, true) ? Words{"--zero"} : Words{});
    results(2, workshop.saving(options) + Words{"--steps", "10"});
    const std::string path = io::CheckpointFolder(workshop.path()).path(10);
    io::Safetensors file = io::load_safetensors(path);
    const auto rename = [&](const std::string& from, const std::string& to) {
        for (auto& [name, tensor] : file.tensors)
            if (name == from) name = to;
    };
    const auto refused_with = [&](const std::string& list) {
        io::save_safetensors(path, file.tensors, file.metadata);
        const std::string said = complaint(2, workshop.saving(options), 1);
        CAPTURE(said);
        CHECK(contains(said, path + ": does not fit this run: " + list));
    };

    SECTION("what the run itself needs") {
        rename("epoch_losses", "losses");
        file.metadata.erase("results.lr");
        file.metadata["results.train_loss"] = "";
        file.metadata["step"] = "many";
        file.metadata["position"] = "-3";
        refused_with(
            "step: \"many\" is not a number; position: -3 makes no sense; "
            "results.train_loss has 0 entries, not 1; missing: results.lr; "
            "unexpected: losses; unexpected: epoch_generators");
    }
    SECTION("the model and the optimizer") {
        rename("model.fc1.bias", "model.fc3.bias");
        rename("optimizer.state.2.momentum_buffer", "optimizer.state.9.momentum_buffer");
        rename("optimizer.state.4.momentum_buffer", "optimizer.state.4.exp_avg");
        io::save_safetensors(path, file.tensors, file.metadata);
        const std::string said = complaint(2, workshop.saving(options), 1);
        for (const char* part : {"missing: fc1.bias", "unexpected: fc3.bias",
                                 "state.9.momentum_buffer", "state.4.exp_avg"}) {
            CAPTURE(part, said);
            CHECK(contains(said, part));
        }
    }
    SECTION("tensors of other shapes and types") {
        for (auto& [name, tensor] : file.tensors) {
            if (name == "generators") tensor = Tensor::zeros({2, 7});
            if (name == "gradient_order")
                tensor = Tensor::from(std::vector<int64_t>{0, 1}, {1, 2});
            if (name == "model.fc2.weight") tensor = Tensor::zeros({10, 51});
        }
        refused_with("generators is float32 (2, 7), not uint8 (2, 10208); ");
        const std::string said = complaint(2, workshop.saving(options), 1);
        CHECK(contains(
            said,
            "fc2.weight: the module has float32 (10, 50), the state float32 (10, 51)"));
    }
    SECTION("a file of another program") {
        file = {.tensors = {{"w", Tensor::zeros({3})}}, .metadata = {}};
        refused_with("missing: step; missing: epoch; ");
    }
}

TEST_CASE("sharding the optimizer changes no bit, and schedulers set the rates") {
    const Workshop workshop;
    const std::string optimizer = GENERATE("sgd", "adam", "adamw");
    CAPTURE(optimizer);
    const Words options{"--epochs", "3", "--optimizer", optimizer, "--scheduler", "step"};
    const auto plain = results(3, workshop.job(options));
    CHECK(outcome(results(3, workshop.job(options) + Words{"--zero"})) == outcome(plain));
    const double first = optimizer == "sgd" ? 0.01 : 0.001;
    const auto rates = plain.at("lr").get<std::vector<double>>();
    REQUIRE(rates.size() == 3);
    CHECK(rates == std::vector<double>{first, first * 0.7, first * 0.7 * 0.7});
}

TEST_CASE("checkpoint options that make no sense are one line and exit code 2") {
    const Workshop workshop;
    const auto says = [&](const Words& options, const std::string& text) {
        CAPTURE(text);
        CHECK(contains(complaint(1, workshop.job(options), 2), text));
    };
    says({"--every", "3"}, "--every requires --checkpoint");
    says({"--keep", "3"}, "--keep requires --checkpoint");
    says({"--fresh"}, "--fresh requires --checkpoint");
    says({"--checkpoint", "run", "--keep", "0"}, "--keep");
    says({"--checkpoint", "run", "--every", "0"}, "--every");
    says({"--checkpoint", "run", "--sync", "none"}, "each rank has its own");
    says({"--checkpoint", "run", "--compress", "powersgd"}, "powersgd feeds back");
    says({"--zero", "--sync", "none"}, "--sync none does not make");
    says({"--optimizer", "adam", "--momentum", "0.9"},
         "--momentum is for --optimizer sgd");
    says({"--optimizer", "lion"}, "lion not in {sgd,adam,adamw}");

    const std::string file = workshop.path() + "/../train-labels-idx1-ubyte";
    CHECK(contains(complaint(1, workshop.job({"--checkpoint", file}), 1),
                   "making the folder failed"));
}
