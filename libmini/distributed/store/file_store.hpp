// A store in a file that all ranks can open, on one host or in a shared folder: a log of
// all sets and deletes. Every rank continues to read the log where it stopped the last
// time.
//
//     magic | kind, key size, value size | key | value | kind, ... | key | value | ...
//
// Two bytes of the file serve as locks, which the kernel releases when a process dies:
//
//     byte 0    held while a rank reads and appends, so that calls do not interleave
//     byte 1    shared by all processes that have the store open; a process that can lock
//               it exclusively is the only user
//
// This distinguishes a file left by a crashed run from a file in use: a process that
// opens the file and is its only user starts with an empty store, and the last process to
// close the file deletes it. A record that a dying process left incomplete is overwritten
// by the next record.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Thread-safe; one call at a time, so a get that waits blocks other threads' calls on
/// the same object. The keys exist while any rank has the file open
/// (`torch.distributed.FileStore`; its argument world_size is not needed here).
class FileStore : public Store {
  public:
    /// Opens or creates the file; only its owner can read it. Throws BadFile for a path
    /// that cannot be opened, or for a file of another format, which is left unchanged.
    explicit FileStore(const std::string& path);
    ~FileStore() override;
    FileStore(const FileStore&) = delete;
    FileStore& operator=(const FileStore&) = delete;

    using Store::check;
    using Store::get;
    using Store::wait;

    void set(const std::string& key, const std::string& value) override;
    std::string get(const std::string& key, Deadline deadline) override;
    int64_t add(const std::string& key, int64_t amount) override;
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired) override;
    void wait(const std::vector<std::string>& keys, Deadline deadline) override;
    bool check(const std::vector<std::string>& keys) override;
    bool delete_key(const std::string& key) override;
    int64_t num_keys() override;

  private:
    class FileLock;
    enum class Kind : uint32_t { kSet = 1, kErase = 2 };

    bool open_file();
    void begin_log();
    void read_log();
    size_t read_record(const std::string& log, size_t begin);
    void append(Kind kind, const std::string& key, const std::string& value);
    void refresh(Deadline deadline);
    void wait_here(const std::vector<std::string>& keys, Deadline deadline);

    const std::string path_;
    std::mutex mutex_;
    Socket file_;      // a descriptor with one owner
    size_t read_ = 0;  // bytes of the log that have been applied to the table
    StoreTable table_;
};

}  // namespace mini::dist
