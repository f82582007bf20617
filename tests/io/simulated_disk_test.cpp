// The simulated disk, and AtomicFile on it: the power is lost, or a call fails, at every
// system call.

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"

#include <cerrno>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::io::AtomicFile;
using mini::io::FileSystemGuard;
using mini::io::SimulatedDisk;
using Files = SimulatedDisk::Files;

namespace {

std::span<const std::byte> text_bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

const std::string kPath = "run/model";

// Replaces `kPath` by the text "new text". Returns whether commit() returned.
bool replace(SimulatedDisk& disk) {
    const FileSystemGuard guard(disk);
    try {
        AtomicFile file(kPath);
        file.write(text_bytes("new "));
        file.write(text_bytes("text"));
        file.commit();
    } catch (const BadFile&) {
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a killed process leaves what it wrote, lost power only what it synced") {
    SimulatedDisk disk;
    const int fd = disk.create("run/a");
    CHECK(disk.write(fd, text_bytes("abcd")) == 4);
    CHECK(disk.files() == Files{{"run/a", "abcd"}});
    CHECK(disk.after_power_loss() ==
          std::set<Files>{{}, {{"run/a", ""}}, {{"run/a", "ab"}}, {{"run/a", "abcd"}}});
    CHECK(disk.fsync(fd) == 0);
    CHECK(disk.after_power_loss() == std::set<Files>{{}, {{"run/a", "abcd"}}});

    const int folder = disk.open_folder("run");
    CHECK(disk.fsync(folder) == 0);
    CHECK(disk.after_power_loss() == std::set<Files>{{{"run/a", "abcd"}}});
    CHECK(disk.rename("run/a", "run/b") == 0);
    CHECK(disk.remove("run/b") == 0);
    CHECK(disk.after_power_loss() ==
          std::set<Files>{{{"run/a", "abcd"}}, {{"run/b", "abcd"}}, {}});
    const int other = disk.open_folder("other");
    CHECK(disk.fsync(other) == 0);
    CHECK(disk.after_power_loss().size() == 3);
    for (const int open : {fd, folder, other}) CHECK(disk.close(open) == 0);
    CHECK(disk.open_count() == 0);
    CHECK(disk.calls().front() == "create run/a");
    CHECK(disk.calls().back() == "close");
}

TEST_CASE("calls fail as they do on a machine") {
    SimulatedDisk disk(Files{{"run/a", "old"}});
    CHECK(disk.create("run/a") == -1);
    CHECK(errno == EEXIST);
    CHECK(disk.rename("run/b", "run/a") == -1);
    CHECK(errno == ENOENT);
    CHECK(disk.write(7, text_bytes("x")) == -1);
    CHECK(errno == EBADF);
    CHECK(disk.close(7) == -1);
    CHECK(errno == EBADF);
    CHECK(disk.calls().back() == "close again");
    const int folder = disk.open_folder("run");
    CHECK(disk.close(folder) == 0);
    CHECK(errno == 0);
    disk.fail_call(6, EIO);
    CHECK(disk.remove("run/a") == -1);
    CHECK(errno == EIO);
    CHECK(disk.files() == Files{{"run/a", "old"}});
}

TEST_CASE("after a failed fsync the next fsync succeeds, but the bytes are lost") {
    SimulatedDisk disk;
    const int fd = disk.create("run/a");
    disk.write(fd, text_bytes("abcd"));
    disk.fail_call(2, EIO);
    CHECK(disk.fsync(fd) == -1);
    CHECK(disk.fsync(fd) == 0);
    CHECK(disk.after_power_loss() == std::set<Files>{{}, {{"run/a", ""}}});
}

TEST_CASE("AtomicFile leaves the old or the new file if power is lost at any call") {
    SimulatedDisk whole(Files{{kPath, "old"}});
    REQUIRE(replace(whole));
    const size_t calls = whole.calls().size();
    CHECK(whole.after_power_loss() == std::set<Files>{{{kPath, "new text"}}});
    for (size_t call = 0; call < calls; ++call) {
        SimulatedDisk disk(Files{{kPath, "old"}});
        disk.lose_power_before(call);
        replace(disk);
        CAPTURE(whole.calls()[call]);
        CHECK(disk.open_count() == 0);
        for (const Files& files : disk.after_power_loss()) {
            const std::string& text = files.at(kPath);
            CAPTURE(text);
            CHECK((text == "old" || text == "new text"));
        }
        CHECK((disk.files().at(kPath) == "old" || disk.files().at(kPath) == "new text"));
    }
}

TEST_CASE("AtomicFile throws if any call fails, and the file is the old or the new one") {
    SimulatedDisk whole(Files{{kPath, "old"}});
    replace(whole);
    for (size_t call = 0; call < whole.calls().size(); ++call) {
        SimulatedDisk disk(Files{{kPath, "old"}});
        disk.fail_call(call, EIO);
        const std::string& name = whole.calls()[call];
        CAPTURE(call, name);
        const bool is_last = call + 1 == whole.calls().size();  // close of the folder
        CHECK(replace(disk) == is_last);
        CHECK(disk.open_count() == 0);
        const bool is_renamed = disk.files().at(kPath) == "new text";
        CHECK(is_renamed ==
              (name.starts_with("open folder") || name == "fsync folder" || is_last));
        CHECK(disk.files().size() == 1);
    }
}

TEST_CASE("AtomicFile continues after a short write and after an interrupted write") {
    SimulatedDisk disk;
    disk.limit_write(3);
    disk.fail_call(2, EINTR);
    CHECK(replace(disk));
    CHECK(disk.after_power_loss() == std::set<Files>{{{kPath, "new text"}}});
}
