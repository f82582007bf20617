// The simulated disk itself. The checks of lab 17 lose its power, and fail its calls, at each
// call of AtomicFile.

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"

#include <cerrno>
#include <set>
#include <span>
#include <string>

#include "tests/support/catch.hpp"

using mini::io::SimulatedDisk;
using Files = SimulatedDisk::Files;

namespace {

std::span<const std::byte> text_bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
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
