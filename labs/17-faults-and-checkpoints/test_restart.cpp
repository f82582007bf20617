// The checks of lab 17, task 17.5: a run that was interrupted ends with the same bits as
// a run that was not. The ranks are threads; the dataset has 24 random images.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/trainer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::training;
using test::contains;
using test::Folder;

namespace {

constexpr int kRanks = 2;
constexpr int64_t kEpoch = 3;  // steps of an epoch: 24 images in batches of 8

// Returns `count` images of noise and their classes.
std::shared_ptr<data::Dataset> images(int64_t count, uint64_t seed) {
    Generator generator(seed);
    std::vector<float> pixels;
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < count * 28 * 28; ++i)
        pixels.push_back(static_cast<float>(generator.randint(0, 100)) / 100.0f);
    for (int64_t i = 0; i < count; ++i) classes.push_back(i % 10);
    return std::make_shared<data::TensorDataset>(Tensor::from(pixels, {count, 1, 28, 28}),
                                                 Tensor::from(classes));
}

// The result of a run; compared bitwise.
struct Outcome {
    std::vector<std::string> parameters;  // the SHA-256 on each rank
    std::vector<double> losses;           // of each step
    std::vector<double> accuracies;       // of each epoch
    int64_t resumed_at = -1;

    bool operator==(const Outcome& other) const {
        return parameters == other.parameters && losses == other.losses &&
               accuracies == other.accuracies;
    }
};

using FolderOf = std::function<std::string(int rank)>;

// Trains up to step `steps`; resumes from the newest checkpoint, and saves one after each
// step. folder_of(rank) is the rank's folder of checkpoints; "": none.
Outcome train(int64_t steps, const FolderOf& folder_of) {
    const logging::Level before = logging::level();
    logging::set_level(logging::Level::kOff);
    const JobData data{images(24, 1), images(8, 2)};
    Outcome outcome;
    std::string error;
    dist::run_threads(kRanks, [&](dist::ProcessGroup& group) {
        Options options;
        options.steps = steps;
        options.batch_size = 8;
        options.workers = 0;
        options.sync = "ddp";
        options.checkpoint = folder_of(group.rank());
        options.every = 1;
        options.keep = 100;
        // Each rank draws its own dropout masks; DDP broadcasts rank 0's parameters.
        manual_seed(options.seed + static_cast<uint64_t>(group.rank()));
        try {
            Trainer trainer(options, data, dist::default_group(), Device::cpu());
            trainer.resume();
            const int64_t resumed_at = trainer.position().step;
            const Results results = trainer.run([](const Results&) {});
            if (group.rank() == 0)
                outcome = {results.parameters_sha256, results.step_loss,
                           results.test_accuracy, resumed_at};
        } catch (const SharedError& shared) {
            if (group.rank() == 0) error = shared.what();
        }
    });
    logging::set_level(before);
    const size_t task = error.find("[lab17");
    if (task != std::string::npos) throw NotImplemented(error.substr(task));
    if (!error.empty()) throw SharedError(error);
    return outcome;
}

const FolderOf kNoFolder = [](int) { return std::string(); };

FolderOf all_in(const std::string& path) {
    return [path](int) { return path; };
}

// Returns the number of the first step whose losses differ; "none" if they are equal.
std::string first_difference(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (a[i] != b[i]) return concat("step ", i + 1, " (", a[i], " and ", b[i], ")");
    return a.size() == b.size() ? "none" : "another number of steps";
}

// Checks that a run that stops after each step of `stops`, and resumes, ends after step
// `end` with the bits of a run that was not interrupted.
void check_resumed(const std::vector<int64_t>& stops, int64_t end) {
    const Outcome whole = train(end, kNoFolder);
    REQUIRE(whole.losses.size() == static_cast<size_t>(end));
    const Folder folder;
    std::string stopped;
    for (const int64_t stop : stops) {
        train(stop, all_in(folder.path()));
        stopped += concat(" ", stop);
    }
    const Outcome resumed = train(end, all_in(folder.path()));
    INFO("an epoch has " << kEpoch << " steps; the run stops after step" << stopped
                         << ", resumes, and ends after step " << end);
    INFO("it resumed at step " << resumed.resumed_at << "; the first loss that differs: "
                               << first_difference(whole.losses, resumed.losses)
                               << "; hint 1 of 17.5 helps");
    CHECK(resumed.resumed_at == stops.back());
    CHECK(resumed.losses == whole.losses);
    CHECK(resumed.parameters == whole.parameters);
    CHECK(resumed.accuracies == whole.accuracies);
    CHECK(resumed.parameters[0] == resumed.parameters[1]);
}

}  // namespace

TEST_CASE("a run that stops in the middle of an epoch continues with the same bits",
          "[lab17][lab17.5]") {
    check_resumed({2}, 5);
}

TEST_CASE("a run that stops at the end of an epoch continues with the same bits",
          "[lab17][lab17.5]") {
    check_resumed({3}, 5);
}

TEST_CASE("a run may be interrupted at every step", "[lab17][lab17.5]") {
    check_resumed({1, 2, 3, 4}, 5);
}

TEST_CASE("all ranks load the checkpoint that rank 0 has chosen", "[lab17][lab17.5]") {
    const Outcome whole = train(4, kNoFolder);
    const Folder mine, theirs;
    train(3, all_in(mine.path()));
    // Rank 1's own folder is a copy, but rank 0's lacks the newest checkpoint.
    std::filesystem::copy(mine.path(), theirs.path());
    std::filesystem::remove(io::CheckpointFolder(mine.path()).path(3));

    INFO(
        "rank 0 has the checkpoints 1 and 2, and rank 1 the checkpoints 1 to 3: as after "
        "a crash in which the last file did not reach every disk. Both must continue "
        "at step 2");
    const Outcome resumed =
        train(4, [&](int rank) { return rank == 0 ? mine.path() : theirs.path(); });
    INFO("rank 0 continued at step " << resumed.resumed_at);
    CHECK(resumed.resumed_at == 2);
    INFO("the first loss that differs: " << first_difference(whole.losses,
                                                             resumed.losses));
    CHECK(resumed == whole);
}

TEST_CASE("without checkpoints on rank 0 all ranks begin at the start",
          "[lab17][lab17.5]") {
    const Outcome whole = train(2, kNoFolder);
    const Folder empty, theirs;
    train(1, all_in(theirs.path()));
    INFO("rank 0 has no checkpoint, rank 1 has one: both must begin at the start");
    const Outcome fresh =
        train(2, [&](int rank) { return rank == 0 ? empty.path() : theirs.path(); });
    INFO("the first loss that differs: " << first_difference(whole.losses, fresh.losses));
    CHECK(fresh == whole);
}

TEST_CASE("if one rank cannot read the checkpoint, all ranks throw its error",
          "[lab17][lab17.5]") {
    const Folder mine, theirs;
    train(1, all_in(mine.path()));
    INFO(
        "rank 0 has a checkpoint that rank 1 lacks: rank 1's error must reach rank 0, "
        "or rank 0 waits for a rank that is gone");
    std::string error;
    try {
        train(2, [&](int rank) { return rank == 0 ? mine.path() : theirs.path(); });
    } catch (const SharedError& shared) {
        error = shared.what();
    }
    INFO("rank 0 got: " << (error.empty() ? "no error" : error));
    CHECK(contains(error, "on rank 1: "));
    CHECK(contains(error, "open failed: No such file or directory"));
}
