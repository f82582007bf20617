// The main job as its users run it: minirun, ranks as processes, real files, real faults.
//
// Where MINI_DATA_DIR/mnist has the real MNIST, the job trains on it and is compared with
// what PyTorch does there; elsewhere on the embedded digits, and the comparison says that
// it was left out.

#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libmini/core/error.hpp"
#include "libmini/data/mnist.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/io/sha256.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/tools/job.hpp"

using namespace mini;
using namespace mini::test;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const std::string kProgram = MINI_BIN_DIR "/train_mnist";

// `minirun -n ranks train_mnist OPTIONS...`, run to its end.
Ended train(int ranks, const Words& options) {
    Words words{"-n", std::to_string(ranks), kProgram};
    words.insert(words.end(), options.begin(), options.end());
    Job job(words);
    const int code = job.wait();
    return {code, job.out(), job.err()};
}

// The JSON object on the last line of stdout of a job that ended well.
nlohmann::json results(int ranks, Words options) {
    options.push_back("--json");
    const Ended ended = train(ranks, options);
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    return nlohmann::json::parse(lines(ended.out).back());
}

bool has_real_mnist() {
    const char* const folder = std::getenv("MINI_DATA_DIR");
    return folder != nullptr && data::has_mnist(std::string(folder) + "/mnist");
}

// A tiny MNIST of `count` images in each part: enough for a job of a few steps.
void write_idx(const fs::path& path, const std::vector<uint8_t>& header,
               const std::vector<uint8_t>& body) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(header.data()),
               static_cast<std::streamsize>(header.size()));
    file.write(reinterpret_cast<const char*>(body.data()),
               static_cast<std::streamsize>(body.size()));
}

void write_tiny_mnist(const fs::path& folder, uint8_t count) {
    for (const std::string part : {"train", "t10k"}) {
        std::vector<uint8_t> pixels(size_t{784} * count);
        for (size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<uint8_t>(7919 * i);
        std::vector<uint8_t> labels(count);
        for (size_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i % 10);
        write_idx(folder / (part + "-images-idx3-ubyte"),
                  {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28}, pixels);
        write_idx(folder / (part + "-labels-idx1-ubyte"), {0, 0, 8, 1, 0, 0, 0, count},
                  labels);
    }
}

}  // namespace

TEST_CASE(
    "ten steps in file order give PyTorch's losses in one process, on 2 and on 4 ranks") {
    if (!has_real_mnist()) {
        WARN("left out: MINI_DATA_DIR names no folder with mnist/");
        return;
    }
    const auto expected =
        golden_cases("convnet_losses")[0].at("losses").get<std::vector<double>>();
    REQUIRE(expected.size() == 10);
    for (const int ranks : {1, 2, 4}) {
        CAPTURE(ranks);
        const auto json = results(ranks, {"--no-dropout", "--order", "file", "--steps",
                                          "10", "--seed", "1234", "--batch-size", "128"});
        const auto losses = json.at("step_loss").get<std::vector<double>>();
        REQUIRE(losses.size() == 10);
        for (size_t i = 0; i < 10; ++i) CHECK(std::abs(losses[i] - expected[i]) < 1e-4);
    }
}

TEST_CASE(
    "ten steps with dropout give PyTorch's losses: same masks, same order of draws") {
    if (!has_real_mnist()) {
        WARN("left out: MINI_DATA_DIR names no folder with mnist/");
        return;
    }
    const auto cases = golden_cases("convnet_losses");
    REQUIRE(cases.size() == 2);
    REQUIRE(cases[1].at("mode").get<std::string>().starts_with("train-mode"));
    const auto expected = cases[1].at("losses").get<std::vector<double>>();
    const auto json = results(
        1, {"--order", "file", "--steps", "10", "--seed", "1234", "--batch-size", "128"});
    const auto losses = json.at("step_loss").get<std::vector<double>>();
    REQUIRE(losses.size() == expected.size());
    for (size_t i = 0; i < losses.size(); ++i)
        CHECK(std::abs(losses[i] - expected[i]) < 1e-3);
}

TEST_CASE(
    "separate streams draw weights and order in their own way, the same every time") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 60);
    const auto first_loss = [&](std::vector<std::string> more) {
        std::vector<std::string> options = {
            "--data",   folder.path(),  "--steps",      "1", "--partition",
            "tutorial", "--no-dropout", "--batch-size", "20"};
        options.insert(options.end(), more.begin(), more.end());
        return results(1, options).at("step_loss")[0].get<double>();
    };
    // The order is drawn from the generator that initialisation has moved on, or not.
    CHECK(first_loss({"--streams", "torch"}) == first_loss({}));
    CHECK(first_loss({"--streams", "separate"}) != first_loss({}));
    CHECK(first_loss({"--streams", "separate"}) == first_loss({"--streams", "separate"}));
}

TEST_CASE("ranks that mpirun or srun would start find one another by its variables") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 60);
    const std::string job = " --steps 3 --batch-size 20 --json --data " + folder.path();
    const std::string variables = GENERATE(
        "SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2 "
        "SLURM_JOB_NODELIST=localhost SLURM_STEP_NODELIST=localhost SLURM_NODEID=0 "
        "SLURM_LOCALID=$r SLURM_PROCID=$r ",
        "OMPI_MCA_ess_base_jobid=$$ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 "
        "OMPI_COMM_WORLD_LOCAL_RANK=$r OMPI_COMM_WORLD_RANK=$r ");
    // One shell for both ranks: $$ is its number, and a job id that nobody else has.
    const std::string rank = "env " + variables + kProgram + job;
    const Ended ended = run_script(
        1,
        "unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR "
        "MASTER_PORT MINI_STORE_COOKIE TORCHELASTIC_RUN_ID; r=1; " +
            rank + " > /dev/null & r=0; " + rank + "; wait");
    CAPTURE(variables, ended.err);
    REQUIRE(ended.code == 0);
    const auto json = nlohmann::json::parse(lines(ended.out).back());
    CHECK(json.at("world_size") == 2);
    CHECK(json.at("parameters_sha256")[0] == json.at("parameters_sha256")[1]);
}

TEST_CASE("one epoch of MNIST on two ranks reaches PyTorch's accuracy") {
    if (!has_real_mnist()) {
        WARN("left out: MINI_DATA_DIR names no folder with mnist/");
        return;
    }
    const auto json = results(2, {"--epochs", "1", "--seed", "1234"});
    CHECK(json.at("dataset") == "mnist");
    const double accuracy = json.at("test_accuracy")[0];
    CHECK(accuracy > 0.908 - 0.01);  // PyTorch on the same job: 0.908
}

TEST_CASE("the embedded digits are learnt to 95 % in three epochs") {
    const auto json = results(2, {"--data", "digits", "--epochs", "3"});
    CHECK(json.at("dataset") == "digits");
    const double accuracy = json.at("test_accuracy")[2];
    CHECK(accuracy >= 0.95);
}

TEST_CASE("the JSON object has every field, and its lists the right lengths") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 60);
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

TEST_CASE(
    "all ranks end with the same parameters, and a second run with the same again") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 84);
    for (const int ranks : {1, 2, 3, 4, 7}) {
        CAPTURE(ranks);
        for (const std::string sync : {"ddp", "average"}) {
            const Words options{"--data", folder.path(), "--epochs",     "2",
                                "--sync", sync,          "--batch-size", "84"};
            const auto digests = results(ranks, options).at("parameters_sha256");
            REQUIRE(digests.size() == static_cast<size_t>(ranks));
            for (const auto& digest : digests) CHECK(digest == digests[0]);
            CHECK(results(ranks, options).at("parameters_sha256") == digests);
        }
    }
}

TEST_CASE("without synchronisation the replicas drift apart, and the summary says so") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 40);
    const Ended ended = train(2, {"--data", folder.path(), "--epochs", "1", "--sync",
                                  "none", "--batch-size", "20"});
    CHECK(ended.code == 0);
    CHECK(ended.out.find("differ between ranks") != std::string::npos);
}

TEST_CASE("ranks as threads train what ranks as processes train") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 60);
    const Words options{"--data",       folder.path(), "--epochs",    "2",
                        "--batch-size", "30",          "--partition", "tutorial"};
    Words threads = options;
    for (const char* word : {"--backend", "threads", "--ranks", "3"})
        threads.push_back(word);
    CHECK(results(1, threads).at("parameters_sha256") ==
          results(3, options).at("parameters_sha256"));
}

TEST_CASE("the number of threads does not change a bit of the result") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 100);
    const Words options{"--data", folder.path(), "--epochs", "2", "--batch-size", "50"};
    Words threads = options;
    for (const char* word : {"--threads", "3", "--workers", "0"}) threads.push_back(word);
    CHECK(results(1, threads).at("parameters_sha256") ==
          results(1, options).at("parameters_sha256"));
}

TEST_CASE(
    "in file order the ranks share each batch, and a last one loses its remainder only") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 27);  // batches of 12, 12 and 3
    const Words options{"--data", folder.path(),  "--order", "file",        "--epochs",
                        "1",      "--batch-size", "12",      "--no-dropout"};
    const auto alone = results(1, options).at("step_loss").get<std::vector<double>>();
    REQUIRE(alone.size() == 3);
    for (const int ranks : {3, 4}) {
        CAPTURE(ranks);
        const auto shared =
            results(ranks, options).at("step_loss").get<std::vector<double>>();
        REQUIRE(shared.size() ==
                (ranks == 3 ? 3u : 2u));  // 3 samples are too few for 4 ranks
        for (size_t i = 0; i < shared.size(); ++i)
            CHECK(std::abs(shared[i] - alone[i]) < 1e-5);
    }
}

TEST_CASE("the saved file holds the parameters that were trained") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 40);
    const std::string path = folder.path() + "/model.safetensors";
    const auto json = results(2, {"--data", folder.path(), "--epochs", "1",
                                  "--batch-size", "20", "--save", path});
    const auto file = io::load_safetensors(path);
    io::Sha256 sha256;
    for (const std::string layer : {"conv1", "conv2", "fc1", "fc2"})
        for (const std::string part : {".weight", ".bias"})
            for (const auto& [name, tensor] : file.tensors)
                if (name == layer + part)
                    sha256.update({tensor.raw_data(), tensor.bytes()});
    CHECK(sha256.finish_hex() == json.at("parameters_sha256")[0].get<std::string>());
}

TEST_CASE(
    "killing a rank in mid-epoch ends the job, naming rank and signal, and leaves "
    "nothing") {
    adopt_orphans();
    Job job({"-n", "3", kProgram, "--data", "digits", "--epochs", "50", "--batch-size",
             "126"});
    job.wait_for("10%");

    // Find the ranks by their environment, as children of minirun.
    std::vector<pid_t> ranks;
    pid_t victim = -1;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        std::ifstream comm(entry.path() / "comm");
        std::ifstream environ(entry.path() / "environ", std::ios::binary);
        std::string name;
        if (!std::getline(comm, name) || name != "train_mnist") continue;
        const std::string text((std::istreambuf_iterator<char>(environ)), {});
        const auto parent = [&] {
            std::ifstream status(entry.path() / "status");
            const std::string all((std::istreambuf_iterator<char>(status)), {});
            return number_after(all, "PPid:\t");
        }();
        if (parent != job.pid()) continue;
        ranks.push_back(std::stoi(entry.path().filename()));
        if (text.find(std::string(1, '\0') + "RANK=1" + '\0') != std::string::npos)
            victim = ranks.back();
    }
    REQUIRE(ranks.size() == 3);
    REQUIRE(victim > 0);

    kill(victim, SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(job.err().find("rank 1 (pid " + std::to_string(victim) +
                         ") was killed by SIGKILL") != std::string::npos);
    for (const pid_t pid : ranks) {
        CAPTURE(pid);
        CHECK(kill(pid, 0) == -1);
    }
}

TEST_CASE("what makes no sense is one clear line and exit code 2") {
    struct Case {
        int ranks;
        Words options;
        std::string says;
    };
    const std::vector<Case> cases{
        {2, {"--bogus"}, "--bogus"},
        {2, {"--sync", "maybe"}, "maybe not in {none,average,ddp}"},
        {2, {"--epochs", "0"}, "--epochs"},
        {2, {"--epochs", "two"}, "two"},
        {2, {"--batch-size", "-1"}, "--batch-size"},
        {3, {"--batch-size", "128"}, "128 cannot be divided among 3 ranks; try 126"},
        {7, {"--batch-size", "3"}, "3 cannot be divided among 7 ranks; try 7"},
        {1, {"--lr", "nan"}, "--lr must not be negative, but is nan"},
        {1, {"--lr", "-1"}, "--lr must not be negative, but is -1"},
        {1, {"--momentum", "inf"}, "--momentum must not be negative, but is inf"},
        {1, {"--bucket-cap-mb", "0"}, "--bucket-cap-mb"},
        {1, {"--device", "cuda"}, "no CUDA"},
        {1, {"--save", "/no/such/folder/file"}, "there is no folder /no/such/folder"},
        {1, {"--save", "/tmp"}, "is a folder"},
    };
    for (const Case& bad : cases) {
        const Ended ended = train(bad.ranks, bad.options);
        CAPTURE(bad.says, ended.err);
        CHECK(ended.code == 2);
        CHECK(ended.out.empty());
        CHECK(lines(ended.err).size() == 1);
        CHECK(ended.err.starts_with("train_mnist: "));
        CHECK(ended.err.find(bad.says) != std::string::npos);
    }
}

TEST_CASE(
    "data that is missing or broken is one clear line of the job, and exit code 1") {
    const Folder folder;
    const fs::path path = folder.path();
    const auto fails_with = [&](const std::string& says) {
        const fs::path model = path / "model.safetensors";
        const Ended ended = train(2, {"--data", path, "--save", model});
        CAPTURE(says, ended.err);
        CHECK(ended.code == 1);
        CHECK(ended.err.find(says) != std::string::npos);
        size_t spoken = 0;
        for (const std::string& line : lines(ended.err))
            spoken += line.starts_with("train_mnist: ");
        CHECK(spoken == 1);
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

TEST_CASE(
    "the summary says what was trained on what, how fast, and that replicas agree") {
    const Folder folder;
    write_tiny_mnist(folder.path(), 40);
    const Ended ended = train(2, {"--data", folder.path(), "--epochs", "2",
                                  "--batch-size", "20", "--bucket-cap-mb", "0.05"});
    CHECK(ended.code == 0);
    for (const std::string part :
         {"data: MNIST", "epoch  1   loss", "epoch  2   loss",
          "Trained the tutorial's ConvNet (21,840 parameters) by bucketed DDP on 2 ranks",
          "images a second", "2 of 64.7 KiB, 20.6 KiB",
          "equal to the bit on all 2 ranks"}) {
        CAPTURE(part);
        CHECK(ended.out.find(part) != std::string::npos);
    }
}

TEST_CASE("help is printed on stdout, with exit code 0") {
    const Ended ended = train(1, {"--help"});
    CHECK(ended.code == 0);
    CHECK(ended.out.find("--bucket-cap-mb") != std::string::npos);
}
