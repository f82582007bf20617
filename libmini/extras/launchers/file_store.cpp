#include "libmini/extras/launchers/file_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

constexpr std::string_view kMagic = "libmini file store 1\n";

constexpr off_t kCallByte = 0;
constexpr off_t kOpenByte = 1;

// How long a wait sleeps before it looks at the file again: no event reports that another
// host has changed the file.
constexpr std::chrono::milliseconds kPause(2);

// How long a process may hold the lock before other processes assume that it is stopped.
constexpr std::chrono::seconds kLockTime(30);
constexpr std::chrono::seconds kFarewellTime(1);

struct RecordHead {
    uint32_t kind = 0;
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
};

// Locks or unlocks one byte. The lock belongs to the open file description, not to the
// process, so two threads that have each opened the file exclude each other. Returns
// false if another open file description holds the lock.
bool set_lock(const Socket& file, short type, off_t byte) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    if (::fcntl(file.fd(), F_OFD_SETLK, &lock) == 0) return true;
    MINI_CHECK(errno == EAGAIN || errno == EACCES || errno == EINTR,
               system_message("fcntl(F_OFD_SETLK)", errno),
               "; a FileStore needs a file system with locks");
    return false;
}

size_t size_of(const Socket& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.fd(), &status) != 0)
        throw BadFile(path, ": ", system_message("fstat", errno));
    return static_cast<size_t>(status.st_size);
}

}  // namespace

// Holds the lock of byte 0 for the lifetime of the object. The constructor blocks until
// it gets the lock; throws Timeout if the deadline passes first.
class FileStore::FileLock {
  public:
    FileLock(const FileStore& store, Deadline deadline) : file_(store.file_) {
        while (!set_lock(file_, F_WRLCK, kCallByte)) {
            if (has_passed(deadline))
                throw Timeout(concat("the store ", store.path_,
                                     " is locked by a process that makes no progress"));
            sleep_for(kPause / 4);
        }
    }
    ~FileLock() { set_lock(file_, F_UNLCK, kCallByte); }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    const Socket& file_;
};

FileStore::FileStore(const std::string& path, std::string prefix)
    : path_(path), prefix_(std::move(prefix)) {
    while (!open_file()) continue;
}

FileStore::~FileStore() {
    try {
        // Delete the file if no other process has it open. Hold the lock during the check
        // and the deletion: if two processes close the file at the same time, the second
        // one deletes it.
        const FileLock lock(*this, deadline_after(kFarewellTime));
        if (set_lock(file_, F_WRLCK, kOpenByte)) ::unlink(path_.c_str());
        set_lock(file_, F_UNLCK, kOpenByte);
    } catch (const Error&) {
    }
}

// Opens the file and reads the log. Returns false if the last user deleted the file while
// this process opened it.
bool FileStore::open_file() {
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    file_ = Socket(::open(path_.c_str(), kFlags, 0600));
    if (!file_.is_open())
        throw BadFile(path_, ": ", system_message("open", errno),
                      "; file:// takes a file in a folder that all ranks share");
    struct stat status {};
    const bool is_file =
        ::fstat(file_.fd(), &status) == 0 && S_ISREG(status.st_mode) != 0;
    if (!is_file) throw BadFile(path_, " is not a regular file");

    const FileLock lock(*this, deadline_after(kLockTime));
    if (::fstat(file_.fd(), &status) != 0 || status.st_nlink == 0) return false;
    if (set_lock(file_, F_WRLCK, kOpenByte)) begin_log();
    set_lock(file_, F_RDLCK, kOpenByte);
    read_log();
    return true;
}

// Begins an empty log in a file that no other process uses. Throws BadFile, and leaves
// the file unchanged, if the file has another format.
void FileStore::begin_log() {
    std::string start(kMagic.size(), '\0');
    const ssize_t n = ::pread(file_.fd(), start.data(), start.size(), 0);
    start.resize(n < 0 ? 0 : static_cast<size_t>(n));
    if (kMagic.substr(0, start.size()) != start)
        throw BadFile(path_,
                      " is not a file store of libmini; it is left unchanged; "
                      "give another path");
    const auto size = static_cast<ssize_t>(kMagic.size());
    if (::ftruncate(file_.fd(), 0) != 0 ||
        ::pwrite(file_.fd(), kMagic.data(), kMagic.size(), 0) != size)
        throw BadFile(path_, ": ", system_message("write", errno));
}

std::string FileStore::ask(protocol::Request request, Deadline deadline) {
    const std::lock_guard lock(mutex_);
    request.key = prefix_ + request.key;
    const std::string key = request.key;
    if (request.may_wait()) {
        wait_for_key(key, deadline);
        return *table_.find(key);
    }
    const FileLock file_lock(*this, deadline_after(kLockTime));
    read_log();
    const auto value = [&] {
        const std::string* const found = table_.find(key);
        return found == nullptr ? std::nullopt : std::optional(*found);
    };
    const std::optional<std::string> before = value();
    std::string answer = carry_out(std::move(request), table_);
    const std::optional<std::string> after = value();
    if (after != before)
        append(after ? Kind::kSet : Kind::kErase, key, after.value_or(""));
    return answer;
}

// Locks the file and updates the table.
void FileStore::refresh(Deadline deadline) {
    const FileLock lock(*this, deadline);
    read_log();
}

void FileStore::wait_for_key(const std::string& key, Deadline deadline) {
    refresh(std::max(deadline, deadline_after(kPause)));
    while (table_.find(key) == nullptr) {
        if (has_passed(deadline)) throw_missing(path_, {key}, {key});
        sleep_for(kPause);

        // Do not lock a file of the same size: it has no new record.
        if (size_of(file_, path_) != read_)
            refresh(std::max(deadline, deadline_after(kPause)));
    }
}

// Applies the new records of the log to the table. REQUIRES: the file is locked.
void FileStore::read_log() {
    const size_t size = size_of(file_, path_);
    if (size < read_) throw BadFile(path_, ": another program has shortened it");
    std::string log(size - read_, '\0');
    for (size_t done = 0; done < log.size();) {
        const ssize_t n = ::pread(file_.fd(), log.data() + done, log.size() - done,
                                  static_cast<off_t>(read_ + done));
        if (n <= 0) throw BadFile(path_, ": ", system_message("read", errno));
        done += static_cast<size_t>(n);
    }

    // Apply the complete records. A process that died may have left an incomplete record
    // at the end.
    size_t begin = 0;
    if (read_ == 0) {
        if (!log.starts_with(kMagic))
            throw BadFile(path_, " is not a file store of libmini");
        begin = kMagic.size();
    }
    while (const size_t bytes = read_record(log, begin)) begin += bytes;
    read_ += begin;
}

// Applies the record at `begin`. Returns its size, or 0 if the record is incomplete.
size_t FileStore::read_record(const std::string& log, size_t begin) {
    RecordHead head;
    if (log.size() - begin < sizeof head) return 0;
    std::memcpy(&head, log.data() + begin, sizeof head);
    const auto kind = static_cast<Kind>(head.kind);
    const bool is_good = (kind == Kind::kSet || kind == Kind::kErase) &&
                         head.key_bytes <= kMaxKeyBytes &&
                         head.value_bytes <= kMaxValueBytes;
    if (!is_good)
        throw BadFile(path_, ": no record of a file store at byte ", read_ + begin);
    const size_t bytes = sizeof head + head.key_bytes + head.value_bytes;
    if (log.size() - begin < bytes) return 0;
    const std::string key = log.substr(begin + sizeof head, head.key_bytes);
    if (kind == Kind::kErase)
        table_.erase(key);
    else
        table_.set(key,
                   log.substr(begin + sizeof head + head.key_bytes, head.value_bytes));
    return bytes;
}

// Appends a record and applies it. REQUIRES: the file is locked, and read_log() has read
// all complete records.
void FileStore::append(Kind kind, const std::string& key, const std::string& value) {
    const RecordHead head{static_cast<uint32_t>(kind), static_cast<uint32_t>(key.size()),
                          static_cast<uint32_t>(value.size())};
    std::string record(sizeof head, '\0');
    std::memcpy(record.data(), &head, sizeof head);
    record += key + value;

    // Cut off the incomplete record of a dead process: if it is longer than the new
    // record, a part of it would remain behind the new record.
    const bool is_clean = size_of(file_, path_) == read_ ||
                          ::ftruncate(file_.fd(), static_cast<off_t>(read_)) == 0;
    for (size_t done = 0; done < record.size();) {
        const ssize_t n = ::pwrite(file_.fd(), record.data() + done, record.size() - done,
                                   static_cast<off_t>(read_ + done));
        if (!is_clean || n <= 0)
            throw BadFile(path_, ": ", system_message("write", errno));
        done += static_cast<size_t>(n);
    }
    read_record(record, 0);
    read_ += record.size();
}

}  // namespace mini::dist
