// The options --json and --svg of a command that prints a table of results.

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libmini/io/chart.hpp"
#include "libmini/io/file.hpp"
#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// The files to which a command writes its results. REQUIRES: this object outlives the
/// parsing of the command line.
class ResultFiles {
  public:
    /// Declares both options; `picture` describes the chart in the help.
    void add_options(Command& command, const std::string& picture);

    /// Opens the files. Throws BadFile, which names the path, if a file cannot be
    /// written; so call open() before the first result is computed.
    void open();

    /// Returns whether the JSON goes to stdout instead of the table.
    bool replaces_table() const { return json_path_ == "-"; }

    /// Writes the results, and, if --svg was given, the result of chart(). Blocks until
    /// the files are on disk. REQUIRES: open() was called.
    void write(const nlohmann::json& results, const std::function<io::Chart()>& chart);

  private:
    std::string json_path_, svg_path_;
    std::unique_ptr<io::AtomicFile> json_, svg_;
};

}  // namespace mini::tools
