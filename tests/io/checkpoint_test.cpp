// The checks of lab 17 show how checkpoints are named and removed, and that they survive a
// kill at any system call.

#include "libmini/io/checkpoint.hpp"

#include <algorithm>
#include <filesystem>

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

namespace {

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
