// A store in a file that all ranks can open, on one host or in a shared folder. The file
// is a log of all sets and deletes. Every rank remembers how far it has read the log.
//
//     magic | kind, key size, value size | key | value | kind, ... | key | value | ...
//
// Two bytes of the file serve as locks, which the kernel releases when a process dies:
//
//     byte 0    locked while a rank reads and appends, so that calls do not interleave
//     byte 1    read-locked by every process that has the store open; a process that gets
//               the write lock is the only user
//
// Byte 1 distinguishes a file left by a crashed run from a file in use: a process that
// opens the file as its only user empties the file, and the last process that closes the
// file deletes it. The next record overwrites a record that a dying process left
// incomplete.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// A store in a file (`torch.distributed.FileStore`; its argument world_size is not
/// needed here). Thread-safe, but one call at a time: a get that waits blocks other
/// threads' calls on the same object. The keys exist while any rank has the file open.
class FileStore : public Store {
  public:
    /// Opens the file, or creates a file that only its owner can read and write. Throws
    /// BadFile if the path cannot be opened. Throws BadFile, and leaves the file
    /// unchanged, if the file has another format. Each key begins with `prefix` in the
    /// file, so runs with different prefixes cannot read or overwrite each other's keys
    /// (`torch.distributed.PrefixStore`); num_keys() counts all keys.
    explicit FileStore(const std::string& path, std::string prefix = "");
    ~FileStore() override;
    FileStore(const FileStore&) = delete;
    FileStore& operator=(const FileStore&) = delete;

  protected:
    std::string ask(protocol::Request request, Deadline deadline) override;
    std::string place() const override { return path_; }

  private:
    class FileLock;
    enum class Kind : uint32_t { kSet = 1, kErase = 2 };

    bool open_file();
    void begin_log();
    void read_log();
    size_t read_record(const std::string& log, size_t begin);
    void append(Kind kind, const std::string& key, const std::string& value);
    void refresh(Deadline deadline);
    void wait_for_key(const std::string& key, Deadline deadline);

    const std::string path_, prefix_;
    std::mutex mutex_;
    Socket file_;      // a descriptor with one owner
    size_t read_ = 0;  // bytes of the log that have been applied to the table
    StoreTable table_;
};

}  // namespace mini::dist
