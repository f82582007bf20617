#include "libmini/tools/mini/result_files.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

namespace mini::tools {
namespace {

void write_all(io::AtomicFile& file, const std::string& text) {
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace

void ResultFiles::add_options(Command& command, const std::string& picture) {
    command
        .add("--json", json_path_, "Write the results to this file; -: print them only")
        .type_name("FILE");
    command.add("--svg", svg_path_, "Write a chart to this file: " + picture)
        .type_name("FILE");
}

void ResultFiles::open() {
    if (!json_path_.empty() && !replaces_table())
        json_ = std::make_unique<io::AtomicFile>(json_path_);
    if (!svg_path_.empty()) svg_ = std::make_unique<io::AtomicFile>(svg_path_);
}

void ResultFiles::write(const nlohmann::json& results,
                        const std::function<io::Chart()>& chart) {
    const std::string text = results.dump() + "\n";
    if (replaces_table()) fmt::print("{}", text);
    if (json_) write_all(*json_, text);
    if (svg_) write_all(*svg_, io::svg_of(chart()));
}

}  // namespace mini::tools
