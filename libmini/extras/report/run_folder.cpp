#include "libmini/extras/report/run_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

// Returns the contents of a file, or "" if it is missing.
std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string name_of(const std::string& folder) {
    auto path = std::filesystem::absolute(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();  // of "runs/first/"
    return path.filename().string();
}

}  // namespace

RunFolder read_run(const std::string& folder) {
    RunFolder run{.name = name_of(folder), .metrics = read_metrics(folder), .trace = {}};
    const std::string trace = contents(folder + "/trace.json");
    try {
        if (!trace.empty()) run.trace = read_trace(trace);
    } catch (const BadFile& error) {
        throw BadFile(concat(folder, "/trace.json: ", error.what()));
    }
    return run;
}

}  // namespace mini::report
