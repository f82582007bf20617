#include "libmini/training/common_options.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/program/command_line.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains;

namespace {

std::string save_error(const std::string& file) {
    return message_of<UsageError>([&] { training::check_save(file); });
}

}  // namespace

TEST_CASE("the option --save is checked without leaving a file behind") {
    const Folder folder;
    CHECK(save_error("") == "");
    CHECK(save_error(folder / "model") == "");
    CHECK(folder.names().empty());
}

TEST_CASE("a disk without space for the tensors is reported before they are saved") {
    const Folder folder;
    const FileSizeLimit limit(1000);
    const auto error = [&](int64_t elements) {
        return message_of<BadFile>([&] {
            training::check_space(folder / "model", {{"x", Tensor::zeros({elements})}});
        });
    };
    CHECK(error(200) == "");
    CHECK(contains(error(250), "model: write failed: File too large"));
    CHECK(folder.names().empty());
}

TEST_CASE("the option --save names a path where no file can be saved, and the reason") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("nowhere/model", folder / "link");
    const std::vector<std::pair<std::string, std::string>> reasons = {
        {folder.path(), "is a folder; name a file"},
        {folder / "no/model", "no does not exist; create it first"},
        {folder / "pipe", "not a regular file"},
        {"/dev/null", "not a regular file"},
        {"/dev/stdout", "/dev/stdout"},
        {"/proc/model", "creating a temporary file beside it failed"},
        {folder / std::string(260, 'x'), "File name too long"},
        {folder / "link", "a symbolic link to nowhere/model, which does not exist"}};
    for (const auto& [path, reason] : reasons) {
        const std::string message = save_error(path);
        CAPTURE(path, message);
        CHECK(message.starts_with("--save " + path));
        CHECK(contains(message, reason));
    }
}

TEST_CASE("numbers on the command line are complete and decimal and fit their type") {
    struct Values {
        uint64_t seed = 0;
        double lr = 0;
        std::vector<int> ranks;
    };
    const auto parsed = [](std::vector<const char*> words) {
        Values values;
        CommandLine line("Test.", "test");
        line.add("--seed", values.seed, "seed");
        line.add("--lr", values.lr, "rate");
        line.add("--ranks", values.ranks, "ranks").split_at(',');
        words.insert(words.begin(), "test");
        line.parse(static_cast<int>(words.size()), words.data());
        return values;
    };
    CHECK(parsed({"--seed", "010"}).seed == 10);
    CHECK(parsed({"--seed=-1"}).seed == UINT64_MAX);
    CHECK(parsed({"--seed", "18446744073709551615"}).seed == UINT64_MAX);
    CHECK(parsed({"--lr", "+1e-3"}).lr == 1e-3);
    CHECK(parsed({"--ranks", "1,08"}).ranks == std::vector<int>{1, 8});
    const std::vector<std::vector<const char*>> wrong = {
        {"--seed", "18446744073709551616"},
        {"--seed", ""},
        {"--seed", "0x10"},
        {"--lr", ""},
        {"--lr", "0.1x"},
        {"--ranks", "1,4294967296"}};
    for (const auto& words : wrong) {
        CAPTURE(words);
        CHECK_THROWS_AS(parsed(words), UsageError);
    }
}
