// The checks of lab 17, tasks 17.3 and 17.4: files and checkpoints of a process that is
// killed, whose machine loses power, or whose system call fails, at every system call.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::io;
using test::contains;
using test::Folder;
using Files = SimulatedDisk::Files;
using Names = std::vector<std::string>;
using Steps = std::vector<int64_t>;

namespace {

std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

// ---- 17.3: a disk in memory

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

// ---- 17.4: a real folder

// Forwards all calls to the machine, and ends the process before call `last`.
class KilledAt final : public FileSystem {
  public:
    static constexpr int kKilled = 9;

    explicit KilledAt(int last) : last_(last) {}
    int stat(const std::string& path, struct stat& status) override {
        return machine_.stat(path, status);
    }
    int create(const std::string& path) override { return next().create(path); }
    int open_folder(const std::string& path) override { return next().open_folder(path); }
    ssize_t write(int fd, std::span<const std::byte> data) override {
        return next().write(fd, data.first(std::min<size_t>(data.size(), 512)));
    }
    int fsync(int fd) override { return next().fsync(fd); }
    int close(int fd) override { return next().close(fd); }
    int rename(const std::string& from, const std::string& to) override {
        return next().rename(from, to);
    }
    int remove(const std::string& path) override { return next().remove(path); }

  private:
    FileSystem& next() {
        if (calls_++ == last_) _exit(kKilled);
        return machine_;
    }

    FileSystem& machine_ = file_system();
    const int last_;
    int calls_ = 0;
};

// Returns a checkpoint whose elements and metadata are its step.
Safetensors contents_of(int64_t step) {
    return {.tensors = {{"x", Tensor::from(
                                  std::vector<float>(500, static_cast<float>(step)))}},
            .metadata = {{"step", std::to_string(step)}}};
}

bool is_whole(const Checkpoint& checkpoint) {
    const auto values = checkpoint.contents.at("x").to_vector<float>();
    return values == std::vector<float>(500, static_cast<float>(checkpoint.step));
}

// Saves step 20 in a process that is killed before call `call`. Returns whether it was
// killed: false if it ended first.
bool save_and_die(const std::string& path, int keep_last, int call) {
    const pid_t child = fork();
    if (child == 0) {
        try {
            KilledAt machine(call);
            CheckpointFolder folder(path, keep_last);
            const FileSystemGuard guard(machine);
            folder.save(20, contents_of(20));
        } catch (const NotImplemented&) {
            _exit(2);
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        throw NotImplemented("[lab17] not started: a task that save() needs");
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) != 1);
    return WEXITSTATUS(status) == KilledAt::kKilled;
}

void damage(const std::string& path) {
    std::ofstream(path, std::ios::binary) << "damaged";
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class LogLevel {
  public:
    explicit LogLevel(logging::Level level) { logging::set_level(level); }
    ~LogLevel() { logging::set_level(before_); }
    LogLevel(const LogLevel&) = delete;
    LogLevel& operator=(const LogLevel&) = delete;

  private:
    logging::Level before_ = logging::level();
};

}  // namespace

// ---- 17.3

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

// ---- 17.4

TEST_CASE("a process killed at any call of save leaves a checkpoint",
          "[lab17][lab17.4]") {
    const LogLevel quiet(logging::Level::kOff);
    for (const int keep_last : {1, 2}) {
        bool killed = true;
        int call = 0;
        for (; killed; ++call) {
            REQUIRE(call < 200);
            const Folder directory;
            CheckpointFolder folder(directory.path(), keep_last);
            folder.save(10, contents_of(10));
            killed = save_and_die(directory.path(), keep_last, call);

            INFO("step 10 is saved; keep_last is "
                 << keep_last << "; the process that saves step 20 "
                 << (killed ? concat("was killed before its system call ", call)
                            : std::string("ended")));
            const CheckpointFolder after(directory.path(), keep_last);
            const auto latest = after.latest();
            INFO("checkpoints afterwards: " << concat(after.list()));
            REQUIRE(latest.has_value());
            CHECK(is_whole(*latest));
            CHECK((latest->step == 20 || (killed && latest->step == 10)));
            CHECK(directory.names().size() == after.list().size());
            if (!killed)
                CHECK(after.list() == (keep_last == 1 ? Steps{20} : Steps{10, 20}));
        }
        CHECK(call > 6);
    }
}

TEST_CASE("the newest checkpoints are kept, and the one just saved", "[lab17][lab17.4]") {
    const LogLevel quiet(logging::Level::kOff);
    const Folder directory;
    CheckpointFolder folder(directory.path(), 2);
    for (const int64_t step : {5, 10, 15}) folder.save(step, contents_of(step));
    INFO("steps 5, 10 and 15 are saved with keep_last 2; there are "
         << concat(folder.list()));
    CHECK(folder.list() == Steps{10, 15});

    damage(folder.path(70));
    damage(folder.path(80));
    folder.save(20, contents_of(20));
    INFO("checkpoints 70 and 80 are damaged; then step 20 is saved; there are "
         << concat(folder.list()));
    CHECK(folder.list() == Steps{20, 70, 80});
    const auto latest = folder.latest();
    CHECK(latest->step == 20);
    INFO("a checkpoint has tensors and metadata, which hold the state of the run");
    CHECK(latest->contents.metadata == contents_of(20).metadata);

    std::filesystem::create_directory(folder.path(1));
    INFO("checkpoint 1 cannot be removed: it only wastes space, and save succeeds");
    CHECK_NOTHROW(folder.save(30, contents_of(30)));
    CHECK(folder.list() == Steps{1, 30, 70, 80});
}

TEST_CASE("if the disk is full, save throws and removes nothing", "[lab17][lab17.4]") {
    const Folder directory;
    CheckpointFolder folder(directory.path(), 1);
    folder.save(10, contents_of(10));
    SimulatedDisk full;
    full.fail_call(1, ENOSPC);
    {
        const FileSystemGuard guard(full);
        CHECK_THROWS_AS(folder.save(20, contents_of(20)), BadFile);
    }
    for (const std::string& call : full.calls()) {
        INFO("the write of step 20 failed, and then: " << call);
        CHECK_FALSE(contains(call, "remove " + folder.path(10)));
    }
    CHECK(folder.list() == Steps{10});
}

TEST_CASE("latest skips damaged checkpoints, but does not hide that all are damaged",
          "[lab17][lab17.4]") {
    const LogLevel quiet(logging::Level::kOff);
    const Folder directory;
    CheckpointFolder folder(directory.path(), 5);
    CHECK_FALSE(folder.latest().has_value());
    for (const int64_t step : {1, 2, 3, 4}) folder.save(step, contents_of(step));
    damage(folder.path(4));
    damage(folder.path(3));
    INFO("of steps 1 to 4, the checkpoints of 3 and 4 are damaged");
    std::optional<Checkpoint> latest;
    const std::string log = test::written_to_stderr([&] {
        const LogLevel loud(logging::Level::kWarning);
        latest = folder.latest();
    });
    REQUIRE(latest.has_value());
    CHECK(latest->step == 2);
    CHECK(is_whole(*latest));
    INFO("the log must name each checkpoint that was skipped; it is: " << log);
    CHECK(contains(log, folder.path(3)));
    CHECK(contains(log, folder.path(4)));
    damage(folder.path(2));
    damage(folder.path(1));
    INFO("now all four are damaged: a run must not restart from the beginning silently");
    CHECK_THROWS_AS(folder.latest(), BadFile);
}

TEST_CASE("checkpoints are numbered files and the newest are kept", "[lab17][lab17.4]") {
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

TEST_CASE("steps of nine digits are listed after steps of eight digits",
          "[lab17][lab17.4]") {
    const Folder directory;
    CheckpointFolder folder(directory.path());
    for (const int64_t step : {int64_t{100'000'000}, int64_t{99'999'999}})
        folder.save(step, contents_of(step));
    CHECK(folder.list() == Steps{99'999'999, 100'000'000});

    INFO("a step below 0, and a folder that keeps nothing");
    CHECK_THROWS_AS(CheckpointFolder(directory.path(), 0), UsageError);
    CHECK_THROWS_AS(folder.save(-1, contents_of(1)), UsageError);
}

TEST_CASE("saving a step again replaces its checkpoint", "[lab17][lab17.4]") {
    const Folder directory;
    CheckpointFolder folder(directory.path());
    folder.save(5, contents_of(4));
    folder.save(5, contents_of(5));
    CHECK(folder.list() == Steps{5});
    CHECK(is_whole(folder.load(5)));
}

TEST_CASE("other files in the folder are neither listed nor removed",
          "[lab17][lab17.4]") {
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

TEST_CASE("temporary files of ended processes are removed but not of running processes",
          "[lab17][lab17.4]") {
    const Folder directory;
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    waitpid(dead, nullptr, 0);
    const std::string name = "checkpoint-00000001.safetensors.tmp-";
    const std::string living = name + std::to_string(getpid()) + "-0";
    write_text(directory / (name + std::to_string(dead) + "-0"), "half");
    write_text(directory / living, "half");
    CheckpointFolder folder(directory.path());
    CHECK(directory.names() == Names{living});
    folder.save(1, contents_of(1));
    CHECK(folder.list() == Steps{1});
}
