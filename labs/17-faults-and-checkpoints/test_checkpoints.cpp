// The checks of lab 17, task 17.4: checkpoints in a real folder, of a process that is killed at
// every system call.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "labs/17-faults-and-checkpoints/test_support.hpp"
#include "libmini/core/log.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/io/file_system.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::io;
using namespace mini::lab17;
using test::Folder;
using Names = std::vector<std::string>;
using Steps = std::vector<int64_t>;

namespace {

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

void damage(const std::string& path) { write_text(path, "damaged"); }

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
