#include "libmini/tools/mini/report.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"
#include "libmini/report/page.hpp"
#include "libmini/report/run_folder.hpp"

namespace mini::tools {
namespace {

struct ReportOptions {
    std::vector<std::string> runs;
    std::string output;
};

void write_report(const ReportOptions& options) {
    if (options.runs.size() > 2)
        throw UsageError(concat("report: one or two runs, not ", options.runs.size()));
    std::vector<report::RunFolder> runs;
    for (const std::string& folder : options.runs)
        runs.push_back(report::read_run(folder));
    const char* const name = runs.size() == 1 ? "report.html" : "compare.html";
    const std::string path =
        options.output.empty() ? options.runs.back() + "/" + name : options.output;
    io::write_file(path, report::page_of(runs));
    fmt::print("{}\n", path);
}

}  // namespace

void add_report(Command& mini) {
    Command command = mini.add_command(
        "report", "Writes the page of a run (train_mnist --logdir), or of two runs");
    const auto options = std::make_shared<ReportOptions>();
    command.add("RUN", options->runs, "One or two folders of runs")
        .type_name("DIR")
        .required();
    command
        .add("--output", options->output,
             "The page; by default report.html in RUN, or compare.html in the second "
             "RUN")
        .type_name("FILE");
    command.on_parsed([options] { write_report(*options); });
}

}  // namespace mini::tools
