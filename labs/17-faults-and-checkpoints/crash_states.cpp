// crash_states: five ways to replace a file, on the simulated disk. For each way, the
// process is killed, and the power is lost, before every system call and after the last;
// counts what the disk may have then.
//
//     crash_states
//
// Exit code: 0.

#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"

namespace {

using namespace mini::io;
using Files = SimulatedDisk::Files;

const std::string kPath = "run/model", kTemporary = "run/model.tmp";

std::span<const std::byte> new_text() {
    static const std::string text = "new contents";
    return std::as_bytes(std::span(text));
}

// ---- the ways

// Creates a file with the new text; returns its descriptor.
int write_new(const std::string& path) {
    const int fd = file_system().create(path);
    file_system().write(fd, new_text());
    return fd;
}

void in_place() {
    file_system().remove(kPath);
    file_system().close(write_new(kPath));
}

void rename_only() {
    file_system().close(write_new(kTemporary));
    file_system().rename(kTemporary, kPath);
}

void fsync_after_rename() {
    const int fd = write_new(kTemporary);
    file_system().rename(kTemporary, kPath);
    file_system().fsync(fd);
    file_system().close(fd);
}

void fsync_and_rename() {
    const int fd = write_new(kTemporary);
    file_system().fsync(fd);
    file_system().close(fd);
    file_system().rename(kTemporary, kPath);
}

void atomic_file() {
    AtomicFile file(kPath);
    file.write(new_text());
    file.commit();
}

// ---- what is left

struct Count {
    size_t all = 0, neither = 0;

    void add(const Files& files) {
        const auto found = files.find(kPath);
        const bool is_whole = found != files.end() &&
                              (found->second == "old" || found->second == "new contents");
        ++all;
        if (!is_whole) ++neither;
    }
};

struct Row {
    size_t calls = 0;
    Count killed, power_lost;
    size_t old_after_return = 0;  // states with the old file after the last call
};

Row examine(const std::function<void()>& replace) {
    Row row;
    const Files before = {{kPath, "old"}};
    SimulatedDisk whole(before);
    {
        const FileSystemGuard guard(whole);
        replace();
    }
    row.calls = whole.calls().size();
    for (size_t call = 0; call <= row.calls; ++call) {
        SimulatedDisk disk(before);
        disk.lose_power_before(call);
        const FileSystemGuard guard(disk);
        replace();
        row.killed.add(disk.files());
        for (const Files& files : disk.after_power_loss()) row.power_lost.add(files);
    }
    for (const Files& files : whole.after_power_loss()) {
        const auto found = files.find(kPath);
        row.old_after_return += found != files.end() && found->second == "old";
    }
    return row;
}

}  // namespace

int main() {
    const std::vector<std::pair<std::string, std::function<void()>>> ways = {
        {"remove, then write", in_place},
        {"write, rename", rename_only},
        {"write, rename, fsync", fsync_after_rename},
        {"write, fsync, rename", fsync_and_rename},
        {"AtomicFile", atomic_file},
    };
    std::cout << fmt::format("{:22}{:>7}{:>20}{:>20}{:>18}\n", "", "calls",
                             "killed: neither", "no power: neither", "returned: old");
    for (const auto& [name, replace] : ways) {
        const Row row = examine(replace);
        std::cout << fmt::format(
            "{:22}{:7}{:>20}{:>20}{:>18}\n", name, row.calls,
            fmt::format("{} of {}", row.killed.neither, row.killed.all),
            fmt::format("{} of {}", row.power_lost.neither, row.power_lost.all),
            row.old_after_return > 0 ? "possible" : "impossible");
    }
    return 0;
}
