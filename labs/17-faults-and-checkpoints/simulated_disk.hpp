// SimulatedDisk: a disk in memory that loses power before any system call, and says which
// contents its files may have afterwards.
//
//     a process writes ---> page cache --- fsync of the file ----> disk: contents
//     a process renames --> page cache --- fsync of the folder --> disk: names
//
// If only the process is killed, the page cache survives. If the power fails, only the
// disk survives, and the kernel may have written any part of the page cache before: of a
// file's contents since its last fsync nothing, the first half, or all (three cases stand
// for any part); of the names since the folder's last fsync the first k changes, in their
// order, for any k, as a file system with a journal does. Contents and names are
// independent of each other. Pillai et al., "All File Systems Are Not Created Equal",
// OSDI 2014, found these cases on real file systems.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libmini/io/file_system.hpp"

namespace mini::io {

class SimulatedDisk final : public FileSystem {
  public:
    /// The contents of all files, by path.
    using Files = std::map<std::string, std::string>;

    /// Creates a disk with these files.
    explicit SimulatedDisk(const Files& files = {});

    // ---- faults; calls are counted from 0

    /// Loses power before call `call`: this call and all later calls report success, but
    /// change nothing. So the program continues to its end, as if it had been killed.
    void lose_power_before(size_t call) { last_ = call; }

    /// Makes call `call` fail with this errno. A failed write writes nothing. A failed
    /// fsync loses the bytes that it should have written: as on Linux, a second fsync
    /// reports success all the same.
    void fail_call(size_t call, int error) { errors_[call] = error; }

    /// Limits the bytes of one write.
    void limit_write(size_t bytes) { most_ = bytes; }

    // ---- results

    /// Returns the calls so far, as text: "write 3 bytes", "rename a to b", "close", and
    /// "close again" for a descriptor that is not open.
    const std::vector<std::string>& calls() const { return calls_; }

    /// Returns the files as processes see them: what a killed process leaves.
    Files files() const;

    /// Returns all files that the disk may have after power is lost now.
    std::set<Files> after_power_loss() const;

    /// Returns how many descriptors are open.
    size_t open_count() const { return descriptors_.size(); }

    // ---- the calls; a close() that succeeds sets errno to 0, as a machine's may

    int stat(const std::string& path, struct stat& status) override;
    int create(const std::string& path) override;
    int open_folder(const std::string& path) override;
    ssize_t write(int fd, std::span<const std::byte> bytes) override;
    int fsync(int fd) override;
    int close(int fd) override;
    int rename(const std::string& from, const std::string& to) override;
    int remove(const std::string& path) override;

  private:
    using Names = std::map<std::string, size_t>;  // the index of the file in contents_

    struct Contents {
        std::string cached;
        std::string on_disk;
        bool is_lost = false;  // an fsync has failed
    };

    // A change of names that is not on disk yet.
    struct Change {
        std::string remove;  // "": no name
        std::string add;     // "": no name
        size_t file = 0;     // of the name `add`
    };

    // An open file, or an open folder.
    struct Descriptor {
        std::optional<size_t> file;
        std::string folder;
    };

    bool begin(const std::string& call);
    bool fails();
    void change(const Change& change);
    int open(const Descriptor& descriptor);
    static void apply(const Change& change, Names& names);

    std::vector<Contents> contents_;
    Names names_;          // as processes see them
    Names names_on_disk_;  // without changes_
    std::vector<Change> changes_;
    std::map<int, Descriptor> descriptors_;
    int next_fd_ = 1000;
    std::vector<std::string> calls_;
    std::optional<size_t> last_;
    std::map<size_t, int> errors_;
    size_t most_ = static_cast<size_t>(-1);
};

}  // namespace mini::io
