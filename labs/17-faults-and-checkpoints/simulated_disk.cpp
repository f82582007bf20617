#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"

#include <algorithm>
#include <cerrno>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

int fail_with(int error) {
    errno = error;
    return -1;
}

}  // namespace

SimulatedDisk::SimulatedDisk(const Files& files) {
    for (const auto& [path, contents] : files) {
        names_[path] = contents_.size();
        contents_.push_back({.cached = contents, .on_disk = contents});
    }
    names_on_disk_ = names_;
}

// Counts a call. Returns false if the power is off.
bool SimulatedDisk::begin(const std::string& call) {
    if (last_ && calls_.size() >= *last_) return false;
    calls_.push_back(call);
    return true;
}

// Returns whether the call that has just begun fails; then sets errno.
bool SimulatedDisk::fails() {
    const auto error = errors_.find(calls_.size() - 1);
    if (error == errors_.end()) return false;
    errno = error->second;
    return true;
}

void SimulatedDisk::apply(const Change& change, Names& names) {
    if (!change.remove.empty()) names.erase(change.remove);
    if (!change.add.empty()) names[change.add] = change.file;
}

void SimulatedDisk::change(const Change& change) {
    apply(change, names_);
    changes_.push_back(change);
}

int SimulatedDisk::open(const Descriptor& descriptor) {
    descriptors_[next_fd_] = descriptor;
    return next_fd_++;
}

// ---- the calls

int SimulatedDisk::stat(const std::string& path, struct stat& status) {
    const auto name = names_.find(path);
    if (name == names_.end()) return fail_with(ENOENT);
    status = {};
    status.st_mode = S_IFREG;
    status.st_size = static_cast<off_t>(contents_[name->second].cached.size());
    return 0;
}

int SimulatedDisk::create(const std::string& path) {
    if (!begin(concat("create ", path))) return open({});
    if (fails()) return -1;
    if (names_.contains(path)) return fail_with(EEXIST);
    contents_.emplace_back();
    change({.remove = "", .add = path, .file = contents_.size() - 1});
    return open({.file = contents_.size() - 1, .folder = ""});
}

int SimulatedDisk::open_folder(const std::string& path) {
    if (!begin(concat("open folder ", path))) return open({});
    if (fails()) return -1;
    return open({.file = std::nullopt, .folder = path});
}

ssize_t SimulatedDisk::write(int fd, std::span<const std::byte> bytes) {
    const size_t count = std::min(bytes.size(), most_);
    if (!begin(concat("write ", count, " bytes"))) return static_cast<ssize_t>(count);
    if (fails()) return -1;
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end() || !found->second.file) return fail_with(EBADF);
    contents_[*found->second.file].cached.append(
        reinterpret_cast<const char*>(bytes.data()), count);
    return static_cast<ssize_t>(count);
}

int SimulatedDisk::fsync(int fd) {
    const auto found = descriptors_.find(fd);
    const bool is_file = found != descriptors_.end() && found->second.file;
    if (!begin(is_file ? "fsync" : "fsync folder")) return 0;
    const bool failed = fails();
    if (found == descriptors_.end()) return fail_with(EBADF);
    if (is_file) {
        Contents& contents = contents_[*found->second.file];
        contents.is_lost |= failed;
        if (!contents.is_lost) contents.on_disk = contents.cached;
        return failed ? -1 : 0;
    }
    if (failed) return -1;

    // Write the changes of names in this folder to disk.
    std::vector<Change> later;
    for (const Change& change : changes_) {
        const std::string& name = change.add.empty() ? change.remove : change.add;
        if (folder_of(name) == found->second.folder)
            apply(change, names_on_disk_);
        else
            later.push_back(change);
    }
    changes_ = later;
    return 0;
}

int SimulatedDisk::close(int fd) {
    const bool was_open = descriptors_.erase(fd) > 0;
    if (!begin(was_open ? "close" : "close again")) return 0;
    if (fails()) return -1;
    if (!was_open) return fail_with(EBADF);
    errno = 0;
    return 0;
}

int SimulatedDisk::rename(const std::string& from, const std::string& to) {
    if (!begin(concat("rename ", from, " to ", to))) return 0;
    if (fails()) return -1;
    const auto name = names_.find(from);
    if (name == names_.end()) return fail_with(ENOENT);
    change({.remove = from, .add = to, .file = name->second});
    return 0;
}

int SimulatedDisk::remove(const std::string& path) {
    if (!begin(concat("remove ", path))) return 0;
    if (fails()) return -1;
    if (!names_.contains(path)) return fail_with(ENOENT);
    change({.remove = path, .add = ""});
    return 0;
}

// ---- results

SimulatedDisk::Files SimulatedDisk::files() const {
    Files files;
    for (const auto& [path, file] : names_) files[path] = contents_[file].cached;
    return files;
}

std::set<SimulatedDisk::Files> SimulatedDisk::after_power_loss() const {
    // For the names after 0, 1, 2, ... changes, combine all possible contents.
    std::set<Files> all;
    Names names = names_on_disk_;
    for (size_t k = 0; k <= changes_.size(); ++k) {
        if (k > 0) apply(changes_[k - 1], names);
        std::set<Files> combined = {{}};
        for (const auto& [path, file] : names) {
            const auto& [cached, on_disk, is_lost] = contents_[file];
            const std::string half =
                cached.substr(0, (on_disk.size() + cached.size()) / 2);
            std::set<Files> longer;
            for (const Files& files : combined) {
                for (const std::string& possible : {on_disk, half, cached}) {
                    // After a failed fsync, assume the worst.
                    Files more = files;
                    more[path] = is_lost ? on_disk : possible;
                    longer.insert(more);
                }
            }
            combined = longer;
        }
        all.merge(combined);
    }
    return all;
}

}  // namespace mini::io
