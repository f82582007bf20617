// The checks of lab 17 show that checkpoints survive a kill at any system call.

#include "libmini/io/checkpoint.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "libmini/core/error.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using mini::BadFile;
using mini::Tensor;
using mini::io::Checkpoint;
using mini::io::CheckpointFolder;
using mini::io::Safetensors;
using mini::test::contains;
using Names = std::vector<std::string>;
using Steps = std::vector<int64_t>;

namespace {

// Returns the folders that CheckpointFolder(path) syncs.
Names synced_by(const std::string& path) {
    mini::io::SimulatedDisk disk;
    {
        const mini::io::FileSystemGuard guard(disk);
        CheckpointFolder folder(path);
    }
    Names folders;
    for (size_t i = 0; i + 1 < disk.calls().size(); ++i)
        if (disk.calls()[i + 1] == "fsync folder")
            folders.push_back(disk.calls()[i].substr(std::string("open folder ").size()));
    return folders;
}

// Returns a checkpoint whose elements all equal its step.
Safetensors contents_of(int64_t step) {
    const std::vector<float> values(10, static_cast<float>(step));
    return {.tensors = {{"x", Tensor::from(values)}},
            .metadata = {{"step", std::to_string(step)}}};
}

bool is_whole(const Checkpoint& checkpoint) {
    const auto values = checkpoint.contents.at("x").to_vector<float>();
    const auto step = static_cast<float>(checkpoint.step);
    return checkpoint.contents.metadata.at("step") == std::to_string(checkpoint.step) &&
           std::all_of(values.begin(), values.end(), [&](float x) { return x == step; });
}

}  // namespace

TEST_CASE("a new folder of checkpoints is on disk, and its parents, too") {
    const Folder folder;
    CHECK(synced_by(folder / "runs/first/") == Names{folder / "runs", folder.path()});
    CHECK(synced_by(folder / "runs/second") == Names{folder / "runs"});
    CHECK(synced_by(folder / "runs/second").empty());
    CHECK(std::filesystem::is_directory(folder / "runs/first"));

    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(synced_by("third") == Names{"."});
    std::filesystem::current_path(before);
}

TEST_CASE("checkpoints are numbered files and the newest are kept") {
    const Folder directory;
    CheckpointFolder folder(directory / "runs/a", 2);
    CHECK(folder.list().empty());
    CHECK_FALSE(folder.latest().has_value());
    for (const int64_t step : {0, 20, 420}) folder.save(step, contents_of(step));
    CHECK(folder.list() == Steps{20, 420});
    CHECK(folder.path(420) == directory / "runs/a/checkpoint-00000420.safetensors");
    CHECK(std::filesystem::exists(folder.path(420)));
    REQUIRE(folder.latest().has_value());
    CHECK(folder.latest()->step == 420);
    CHECK(is_whole(*folder.latest()));
    CHECK(is_whole(folder.load(20)));
    CHECK_THROWS_AS(folder.load(0), BadFile);
}

TEST_CASE("steps of nine digits are listed after steps of eight digits") {
    const Folder directory;
    CheckpointFolder folder(directory.path());
    for (const int64_t step : {int64_t{100'000'000}, int64_t{99'999'999}})
        folder.save(step, contents_of(1));
    CHECK(folder.list() == Steps{99'999'999, 100'000'000});
}

TEST_CASE("saving a step again replaces its checkpoint") {
    const Folder directory;
    CheckpointFolder folder(directory.path());
    folder.save(5, contents_of(4));
    folder.save(5, contents_of(5));
    CHECK(folder.list() == Steps{5});
    CHECK(is_whole(folder.load(5)));
}

TEST_CASE("other files in the folder are neither listed nor removed") {
    const Folder directory;
    const Names others = {"checkpoint-000000x1.safetensors", "checkpoint-7.safetensors",
                          "model.safetensors", "notes.txt"};
    for (const std::string& name : others) write_text(directory / name, "mine");
    CheckpointFolder folder(directory.path(), 1);
    folder.save(8, contents_of(8));
    folder.save(9, contents_of(9));
    CHECK(folder.list() == Steps{9});
    for (const std::string& name : others) CHECK(read_text(directory / name) == "mine");
}

TEST_CASE("a file at or above the folder's path throws BadFile that names the path") {
    const Folder directory;
    write_text(directory / "run", "a file");
    for (const std::string& path : {directory / "run", directory / "run/deeper"})
        CHECK(
            contains(message_of<BadFile>([&] { CheckpointFolder folder(path); }), path));
    CHECK(read_text(directory / "run") == "a file");
    CHECK_THROWS_AS(CheckpointFolder(directory.path(), 0), mini::UsageError);
    CheckpointFolder folder(directory.path());
    CHECK_THROWS_AS(folder.save(-1, contents_of(1)), mini::UsageError);
}

TEST_CASE("a symbolic link to a folder is followed and a link to a file is replaced") {
    const Folder directory;
    std::filesystem::create_directory(directory / "disk");
    std::filesystem::create_directory_symlink(directory / "disk", directory / "run");
    CheckpointFolder folder(directory / "run");
    write_text(directory / "precious", "mine");
    std::filesystem::create_symlink(directory / "precious", folder.path(1));
    folder.save(1, contents_of(1));
    CHECK(read_text(directory / "precious") == "mine");
    CHECK(is_whole(CheckpointFolder(directory / "disk").load(1)));
}

TEST_CASE("temporary files of ended processes are removed but not of running processes") {
    const Folder directory;
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    waitpid(dead, nullptr, 0);
    const std::string name = "checkpoint-00000001.safetensors.tmp-";
    const std::string living = name + std::to_string(getpid()) + "-0";
    write_text(directory / (name + std::to_string(dead) + "-0"), "half");
    write_text(directory / living, "half");
    const CheckpointFolder folder(directory.path());
    CHECK(directory.names() == Names{living});
}
