// The options --json and --svg of a command that prints a table of results.

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libmini/io/file.hpp"
#include "libmini/io/line_chart.hpp"
#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Where the results go beside the table. REQUIRES: outlives the parsing of the command line.
class ResultFiles {
  public:
    /// Declares both options; `picture` says what the chart shows.
    void add_options(Command& command, const std::string& picture);

    /// Opens the files, so that a path that cannot be written is an error before the first
    /// result. Throws BadFile, which names the path.
    void open();

    /// Whether the JSON goes to stdout, in place of the table.
    bool replaces_table() const { return json_path_ == "-"; }

    /// Writes the results, and the chart if --svg was given; blocks until the files are on
    /// disk. REQUIRES: open() was called.
    void write(const nlohmann::json& results,
               const std::function<io::LineChart()>& chart);

  private:
    std::string json_path_, svg_path_;
    std::unique_ptr<io::AtomicFile> json_, svg_;
};

}  // namespace mini::tools
