// The checks of lab 17, task 17.3: a file of a process that is killed, whose machine loses power,
// or whose system call fails, at every system call.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::io;
using namespace mini::lab17;
using test::Folder;
using Files = SimulatedDisk::Files;
using Names = std::vector<std::string>;

namespace {

std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

const std::string kPath = "run/model";

// Replaces the file by "new text", in two writes. Returns the message of the error; "" if
// commit() returned.
std::string replace(SimulatedDisk& disk) {
    const FileSystemGuard guard(disk);
    try {
        AtomicFile file(kPath);
        file.write(bytes("new "));
        file.write(bytes("text"));
        file.commit();
    } catch (const BadFile& error) {
        return error.what();
    }
    return "";
}

// Returns the calls, one line each, with a mark before call `here`.
std::string listed(const std::vector<std::string>& calls, size_t here = 1000) {
    std::string text;
    for (size_t i = 0; i < calls.size(); ++i)
        text += concat(i == here ? "\n  > " : "\n    ", calls[i]);
    return text;
}

std::string listed(const Files& files) {
    if (files.empty()) return "no file at all";
    std::string text;
    for (const auto& [path, contents] : files)
        text += concat(text.empty() ? "" : ", ", path, ": \"", contents, "\"");
    return text;
}

const std::string kNewFile = "run/model: \"new text\"";  // as listed() lists it

std::vector<std::string> calls_of_replace() {
    SimulatedDisk disk(Files{{kPath, "old"}});
    replace(disk);
    return disk.calls();
}

// Returns errors after which commit() must throw, of one call.
std::vector<int> errors_of(const std::string& call) {
    if (call == "fsync") return {EIO, EINTR, EINVAL};
    return {EIO};
}

// Returns the folders that create_folder(path) syncs, sorted.
Names synced_by(const std::string& path) {
    SimulatedDisk disk;
    {
        const FileSystemGuard guard(disk);
        create_folder(path);
    }
    Names folders;
    for (size_t i = 0; i + 1 < disk.calls().size(); ++i)
        if (disk.calls()[i + 1] == "fsync folder")
            folders.push_back(disk.calls()[i].substr(std::string("open folder ").size()));
    std::ranges::sort(folders);
    return folders;
}

bool is_whole(const Files& files) {
    const auto found = files.find(kPath);
    return found != files.end() &&
           (found->second == "old" || found->second == "new text");
}

}  // namespace

TEST_CASE("after commit the new file is on disk, and no other file", "[lab17][lab17.3]") {
    SimulatedDisk disk(Files{{kPath, "old"}});
    const std::string error = replace(disk);
    INFO("the calls:" << listed(disk.calls()));
    CHECK(error == "");
    for (const Files& files : disk.after_power_loss()) {
        INFO("commit() has returned; if the power fails now, the disk may have "
             << listed(files) << "; which fsync is missing?");
        CHECK(listed(files) == kNewFile);
    }
    CHECK(listed(disk.files()) == kNewFile);
    INFO("descriptors still open: " << disk.open_count());
    CHECK(disk.open_count() == 0);
}

TEST_CASE("if the power fails at any call, the file is the old or the new one",
          "[lab17][lab17.3]") {
    const std::vector<std::string> calls = calls_of_replace();
    for (size_t call = 0; call < calls.size(); ++call) {
        SimulatedDisk disk(Files{{kPath, "old"}});
        disk.lose_power_before(call);
        replace(disk);
        for (const Files& files : disk.after_power_loss()) {
            INFO("the power fails before the marked call:" << listed(calls, call));
            INFO("then the disk may have " << listed(files));
            CHECK(is_whole(files));
        }
    }
}

TEST_CASE("if the process is killed at any call, the file is the old or the new one",
          "[lab17][lab17.3]") {
    const std::vector<std::string> calls = calls_of_replace();
    for (size_t call = 0; call < calls.size(); ++call) {
        SimulatedDisk disk(Files{{kPath, "old"}});
        disk.lose_power_before(call);
        replace(disk);
        INFO("the process is killed before the marked call:" << listed(calls, call));
        INFO("then it leaves " << listed(disk.files()));
        CHECK(is_whole(disk.files()));
    }
}

TEST_CASE("an error of any call is thrown, and is no new file half done",
          "[lab17][lab17.3]") {
    const std::vector<std::string> calls = calls_of_replace();
    for (size_t call = 0; call + 1 < calls.size(); ++call) {  // the last only closes
        for (const int code : errors_of(calls[call])) {
            const std::string reason = std::generic_category().message(code);
            SimulatedDisk disk(Files{{kPath, "old"}});
            disk.fail_call(call, code);
            const std::string error = replace(disk);
            INFO("the marked call fails (" << reason << "):" << listed(calls, call));
            INFO("commit() " << (error.empty() ? "returned" : "threw: " + error)
                             << "; the calls were:" << listed(disk.calls()));
            CHECK(contains(error, kPath + ": "));
            CHECK(contains(error, reason));
            INFO("then the files are " << listed(disk.files()));
            CHECK(disk.files().size() == 1);
            CHECK(is_whole(disk.files()));
            for (const Files& files : disk.after_power_loss()) {
                INFO("if the power fails later, the disk may have " << listed(files));
                CHECK(is_whole(files));
            }
            CHECK(disk.open_count() == 0);
            INFO("close() closes a descriptor even if it reports an error");
            CHECK(std::ranges::count(disk.calls(), "close again") == 0);
        }
    }
}

TEST_CASE("a file system without fsync of folders is no error", "[lab17][lab17.3]") {
    const std::vector<std::string> calls = calls_of_replace();
    const auto folder = std::ranges::find(calls, "fsync folder");
    INFO("the calls:" << listed(calls));
    REQUIRE(folder != calls.end());
    SimulatedDisk disk(Files{{kPath, "old"}});
    disk.fail_call(static_cast<size_t>(folder - calls.begin()), EINVAL);
    CHECK(replace(disk) == "");
    CHECK(disk.open_count() == 0);
}

TEST_CASE("a write may be short, or interrupted by a signal", "[lab17][lab17.3]") {
    SimulatedDisk disk;
    disk.limit_write(3);
    disk.fail_call(2, EINTR);
    const std::string error = replace(disk);
    INFO("each write takes at most 3 bytes, and the second fails with EINTR:"
         << listed(disk.calls()));
    CHECK(error == "");
    INFO("the file is " << listed(disk.files()));
    CHECK(listed(disk.files()) == kNewFile);
}

TEST_CASE("a file that is never committed leaves nothing", "[lab17][lab17.3]") {
    SimulatedDisk disk(Files{{kPath, "old"}});
    {
        const FileSystemGuard guard(disk);
        AtomicFile file(kPath);
        file.write(bytes("new"));
        INFO("before commit the files are " << listed(disk.files()));
        CHECK(disk.files().size() == 2);
        CHECK(disk.files().at(kPath) == "old");
        const std::string begin = concat(kPath, ".tmp-", getpid(), "-");
        INFO("the temporary file begins with " << begin);
        CHECK(disk.files().rbegin()->first.starts_with(begin));
    }
    INFO("afterwards they are " << listed(disk.files()));
    CHECK(disk.files() == Files{{kPath, "old"}});
    CHECK(disk.open_count() == 0);
}

TEST_CASE("a temporary name may be taken", "[lab17][lab17.3]") {
    // The names of the next files, left behind by a process that had this process's number.
    SimulatedDisk disk;
    const FileSystemGuard guard(disk);
    int first = 0;
    {
        AtomicFile file(kPath);
        const std::string name = disk.files().begin()->first;
        first = std::stoi(name.substr(name.rfind('-') + 1));
    }
    for (int n = first; n < first + 4; ++n)
        disk.close(disk.create(concat(kPath, ".tmp-", getpid(), "-", n)));
    AtomicFile file(kPath);
    file.write(bytes("new"));
    file.commit();
    INFO("four names were taken; the files are " << listed(disk.files()));
    CHECK(disk.files().at(kPath) == "new");
    CHECK(disk.files().size() == 5);
}

TEST_CASE("two writers of one path are independent and the last commit wins",
          "[lab17][lab17.3]") {
    const Folder folder;
    AtomicFile first(folder / "model");
    AtomicFile second(folder / "model");
    first.write(bytes("first"));
    second.write(bytes("second"));
    second.commit();
    first.commit();
    CHECK(folder.names() == Names{"model"});
    CHECK(read_text(folder / "model") == "first");
}

TEST_CASE("a path without a folder is in the current folder", "[lab17][lab17.3]") {
    const Folder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / ".");
    AtomicFile file("model");
    file.commit();
    std::filesystem::current_path(before);
    CHECK(folder.names() == Names{"model"});
}

TEST_CASE("a symbolic link is replaced and its target is unchanged", "[lab17][lab17.3]") {
    const Folder folder;
    write_text(folder / "target", "old");
    std::filesystem::create_symlink("target", folder / "link");
    AtomicFile file(folder / "link");
    file.write(bytes("new"));
    file.commit();
    CHECK(read_text(folder / "target") == "old");
    CHECK(read_text(folder / "link") == "new");
    CHECK_FALSE(std::filesystem::is_symlink(folder / "link"));

    INFO("a folder, a pipe or a device is not replaced, nor a link to an open file");
    const std::string pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& path : {folder.path(), pipe, std::string("/dev/null")}) {
        CAPTURE(path);
        CHECK_THROWS_AS(AtomicFile(path), BadFile);
    }
    INFO("a folder that does not exist");
    CHECK_THROWS_AS(AtomicFile(folder / "none/model"), BadFile);
    write_text(folder / "opened", "");
    const int fd = ::open((folder / "opened").c_str(), O_WRONLY);
    REQUIRE(fd >= 0);
    const std::string opened = folder / "stdout";
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(fd), opened);
    REQUIRE(std::filesystem::is_regular_file(opened));
    CHECK_THROWS_AS(AtomicFile(opened), BadFile);
    CHECK(std::filesystem::is_symlink(opened));
    ::close(fd);
}

TEST_CASE("a new folder is on disk, and its parents, too", "[lab17][lab17.3]") {
    const Folder folder;
    INFO(
        "a name is in the folder above it: which folders must be synced for runs/first?");
    CHECK(synced_by(folder / "runs/first/") == Names{folder.path(), folder / "runs"});
    CHECK(synced_by(folder / "runs/second") == Names{folder / "runs"});
    CHECK(synced_by(folder / "runs/second").empty());
    CHECK(std::filesystem::is_directory(folder / "runs/first"));

    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(synced_by("third") == Names{"."});
    std::filesystem::current_path(before);

    write_text(folder / "run", "a file");
    for (const std::string& path : {folder / "run", folder / "run/deeper"}) {
        CAPTURE(path);
        CHECK_THROWS_AS(create_folder(path), BadFile);
    }
}
