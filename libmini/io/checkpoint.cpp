#include "libmini/io/checkpoint.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"

namespace mini::io {
namespace {

namespace fs = std::filesystem;

std::string file_name(int64_t step) {
    return fmt::format("checkpoint-{:08}.safetensors", step);
}

// What the name of a checkpoint's file says; the process is the one that writes a temporary
// file.
struct FileName {
    int64_t step = 0;
    std::optional<pid_t> writer;
};

// Returns std::nullopt for the names of other files: those that file_name() and AtomicFile
// do not give to the numbers that are read.
std::optional<FileName> parsed(const std::string& name) {
    long long step = -1;
    std::sscanf(name.c_str(), "checkpoint-%18lld", &step);
    if (step < 0 || !name.starts_with(file_name(step))) return std::nullopt;
    const std::string rest = name.substr(file_name(step).size());
    if (rest.empty()) return FileName{.step = step, .writer = std::nullopt};

    pid_t pid = 0;
    std::sscanf(rest.c_str(), ".tmp-%9d", &pid);
    if (pid <= 0 || !rest.starts_with(concat(".tmp-", pid, "-"))) return std::nullopt;
    return FileName{.step = step, .writer = pid};
}

bool has_ended(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error) throw BadFile(concat(folder, ": listing failed: ", error.message()));
    return names;
}

// Removes a file. Logs a warning if this fails: the file only wastes disk space.
void remove_or_warn(const std::string& path) {
    if (file_system().remove(path) != 0 && errno != ENOENT)
        logging::warning(path, ": ", system_message("unlink", errno));
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string folder, int keep_last)
    : folder_(std::move(folder)), keep_last_(keep_last) {
    if (keep_last < 1)
        throw UsageError(
            concat("CheckpointFolder: keep_last is ", keep_last, ", not 1 or more"));
    create_folder_on_disk(folder_);
    for (const std::string& name : names_in(folder_)) {
        const std::optional<FileName> file = parsed(name);
        if (file && file->writer && has_ended(*file->writer))
            remove_or_warn(concat(folder_, "/", name));
    }
}

std::string CheckpointFolder::path(int64_t step) const {
    return concat(folder_, "/", file_name(step));
}

void CheckpointFolder::save(int64_t step, const Safetensors& contents) {
    if (step < 0)
        throw UsageError(concat("CheckpointFolder: the step is ", step, ", below 0"));
    // [lab17.5] Write the new checkpoint, then remove old ones.
    save_safetensors(path(step), contents.tensors, contents.metadata);
    remove_old(step);
    // [lab17.5]
}

// Removes all checkpoints except `just_saved` and the keep_last_ checkpoints with the
// highest steps. `just_saved` need not be one of them: higher steps may be damaged.
void CheckpointFolder::remove_old(int64_t just_saved) const {
    std::vector<int64_t> steps = list();
    // [lab17.5] Remove the lowest steps.
    const size_t kept = std::min(steps.size(), static_cast<size_t>(keep_last_));
    steps.resize(steps.size() - kept);
    for (const int64_t step : steps)
        if (step != just_saved) remove_or_warn(path(step));
    // [lab17.5]
}

std::vector<int64_t> CheckpointFolder::list() const {
    std::vector<int64_t> steps;
    for (const std::string& name : names_in(folder_))
        if (const std::optional<FileName> file = parsed(name); file && !file->writer)
            steps.push_back(file->step);
    std::ranges::sort(steps);
    return steps;
}

Checkpoint CheckpointFolder::load(int64_t step) const {
    return {.step = step, .contents = load_safetensors(path(step))};
}

std::optional<Checkpoint> CheckpointFolder::latest() const {
    std::vector<int64_t> steps = list();
    if (steps.empty()) return std::nullopt;
    // [lab17.5] Load the highest step that can be loaded.
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile& error) {
            logging::warning("skipping a checkpoint: ", error.what());
        }
    }
    // [lab17.5]
    throw BadFile(concat(folder_,
                         ": has checkpoints, but none can be loaded; to restart from "
                         "the beginning, move them to another folder"));
}

}  // namespace mini::io
