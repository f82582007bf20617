#include "libmini/report/run_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

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

void read_evaluation(const std::string& folder, RunFolder& run) {
    const std::string path = folder + "/evaluation.json";
    const std::string text = contents(path);
    if (text.empty()) return;
    try {
        const auto json = ordered_json::parse(text);
        run.evaluation = evaluation_of(json);
        const ordered_json& samples = json.at("samples");
        run.samples = Samples{.size = samples.at("size"),
                              .repeated = samples.at("repeated"),
                              .unseen = samples.at("unseen"),
                              .ranks = samples.at("ranks"),
                              .png = contents(folder + "/samples.png")};
    } catch (const ordered_json::exception& error) {
        throw BadFile(concat(path, ": ", error.what()));
    }
}

}  // namespace

RunFolder read_run(const std::string& folder) {
    RunFolder run{.name = name_of(folder),
                  .metrics = read_metrics(folder),
                  .trace = {},
                  .evaluation = {},
                  .samples = {}};
    const std::string trace = contents(folder + "/trace.json");
    try {
        if (!trace.empty()) run.trace = read_trace(trace);
    } catch (const BadFile& error) {
        throw BadFile(concat(folder, "/trace.json: ", error.what()));
    }
    read_evaluation(folder, run);
    return run;
}

}  // namespace mini::report
