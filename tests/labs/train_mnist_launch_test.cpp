// train_mnist with wrong options and files, and when ranks fail.

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/safetensors.hpp"
#include "tests/labs/train_mnist_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("killing a rank in mid-epoch ends the job and names the rank and the signal") {
    adopt_orphans();
    Job job({"-n", "3", kProgram, "--data", "digits", "--epochs", "50", "--batch-size",
             "126"});
    job.wait_for("10%");

    const std::vector<pid_t> ranks = ranks_of(job.pid());
    REQUIRE(ranks.size() == 3);
    const pid_t victim = *std::ranges::find_if(ranks, [](pid_t pid) {
        std::ifstream file(concat("/proc/", pid, "/environ"), std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        return contains(text, std::string("\0RANK=1\0", 8));
    });

    kill(victim, SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(job.err().find("rank 1 (pid " + std::to_string(victim) +
                         ") was killed by SIGKILL") != std::string::npos);
    for (const pid_t pid : ranks) {
        CAPTURE(pid);
        CHECK(kill(pid, 0) == -1);
    }
}

TEST_CASE("an invalid option prints one clear line and exits with code 2") {
    struct Case {
        int ranks;
        Words options;
        std::string message;
    };
    const std::vector<Case> cases{
        {2, {"--bogus"}, "--bogus"},
        {3, {"--batch-size", "128"}, "128 cannot be divided among 3 ranks; try 126"},
        {7, {"--batch-size", "3"}, "3 cannot be divided among 7 ranks; try 7"},
        {1, {"--link", "1Gbit", "--backend", "gloo"}, "--link is for --backend ring"},
    };
    for (const Case& bad : cases)
        check_rejects("train_mnist", bad.ranks, bad.options, bad.message);
}

TEST_CASE("a rank gives up on a missing rank after --timeout") {
    const ProcessResult ended = run_script(
        1, concat("unset LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MINI_STORE_COOKIE "
                  "TORCHELASTIC_RUN_ID; RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
                  "MASTER_PORT=",
                  free_port(), " ", kProgram, " --data digits --timeout 0.5"));
    CAPTURE(ended.err);
    CHECK(ended.code == 1);
    CHECK(ended.err.find("rank 1") != std::string::npos);
}

TEST_CASE("missing or broken data prints one clear line and exits with code 1") {
    const Folder folder;
    const fs::path path = folder.path();
    const auto fails_with = [&](const std::string& message) {
        const fs::path model = path / "model.safetensors";
        const Words options{"--data", path, "--save", model};
        CHECK(contains(error_of(train(2, options), "train_mnist"), message));
        CHECK_FALSE(fs::exists(model));
    };

    fails_with("train-images-idx3-ubyte");
    write_tiny_mnist(path, 40);
    fs::remove(path / "t10k-labels-idx1-ubyte");
    fails_with("t10k-labels-idx1-ubyte");

    write_tiny_mnist(path, 40);
    fs::resize_file(path / "train-images-idx3-ubyte", 1000);
    fails_with("train-images-idx3-ubyte");

    write_tiny_mnist(path, 40);
    write_idx(path / "train-labels-idx1-ubyte", {0, 0, 8, 9, 0, 0, 0, 40}, {});
    fails_with("train-labels-idx1-ubyte");

    write_tiny_mnist(path, 40);
    write_idx(path / "train-images-idx3-ubyte",
              {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
              {});
    fails_with("train-images-idx3-ubyte");
}

TEST_CASE("the summary reports model and data and speed and that replicas agree") {
    const TinyMnist folder(40);
    const ProcessResult ended =
        train(2, {"--data", folder.path(), "--epochs", "2", "--batch-size", "20",
                  "--bucket-cap-mb", "0.05"});
    CHECK(ended.code == 0);
    for (const std::string part :
         {"data: MNIST", "epoch  1   loss", "epoch  2   loss",
          "Trained the tutorial's ConvNet (21,840 parameters) by bucketed DDP on 2 ranks",
          "images a second", "2 of 64.7 KiB, 20.6 KiB",
          "bitwise identical on all 2 ranks"})
        CHECK(contains(ended.out, part));
}

TEST_CASE("help is printed to stdout with exit code 0") {
    const ProcessResult ended = train(1, {"--help"});
    CHECK(ended.code == 0);
    CHECK(ended.out.find("--bucket-cap-mb") != std::string::npos);
}
