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

// [lab17 file]
namespace mini::io {
namespace {

namespace fs = std::filesystem;

std::string file_name(int64_t step) {
    return fmt::format("checkpoint-{:08}.safetensors", step);
}

// Returns the step in the name of a checkpoint or of its temporary file; -1 for other names.
int64_t step_in(const std::string& name) {
    long long step = -1;
    std::sscanf(name.c_str(), "checkpoint-%18lld", &step);
    return step >= 0 && name.starts_with(file_name(step)) ? step : -1;
}

// Returns whether `name` is the temporary file of a process that does not exist.
bool is_left_behind(const std::string& name) {
    const int64_t step = step_in(name);
    pid_t pid = 0;
    if (step >= 0) std::sscanf(name.c_str() + file_name(step).size(), ".tmp-%9d-", &pid);
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error) throw BadFile(folder, ": listing failed: ", error.message());
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
        throw UsageError("CheckpointFolder: keep_last is ", keep_last, ", not 1 or more");
    create_folder(folder_);
    for (const std::string& name : names_in(folder_))
        if (is_left_behind(name)) remove_or_warn(concat(folder_, "/", name));
}

std::string CheckpointFolder::path(int64_t step) const {
    return concat(folder_, "/", file_name(step));
}

void CheckpointFolder::save(int64_t step, const Safetensors& contents) {
    if (step < 0) throw UsageError("CheckpointFolder: the step is ", step, ", below 0");
    // [lab17.4] Write the new checkpoint, then remove the lowest steps.
    save_safetensors(path(step), contents.tensors, contents.metadata);
    std::vector<int64_t> old = list();
    old.resize(old.size() - std::min(old.size(), static_cast<size_t>(keep_last_)));
    for (const int64_t each : old)  // may have the new step, if higher steps are damaged
        if (each != step) remove_or_warn(path(each));
    // [lab17.4]
}

std::vector<int64_t> CheckpointFolder::list() const {
    std::vector<int64_t> steps;
    for (const std::string& name : names_in(folder_))
        if (const int64_t step = step_in(name); step >= 0 && name == file_name(step))
            steps.push_back(step);
    std::ranges::sort(steps);
    return steps;
}

Checkpoint CheckpointFolder::load(int64_t step) const {
    return {.step = step, .contents = load_safetensors(path(step))};
}

std::optional<Checkpoint> CheckpointFolder::latest() const {
    std::vector<int64_t> steps = list();
    if (steps.empty()) return std::nullopt;
    // [lab17.4] Load the highest step that can be loaded.
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile& error) {
            logging::warning("skipping a checkpoint: ", error.what());
        }
    }
    // [lab17.4]
    throw BadFile(folder_,
                  ": has checkpoints, but none can be loaded; to restart from "
                  "the beginning, move them to another folder");
}

}  // namespace mini::io
// [lab17 file]
