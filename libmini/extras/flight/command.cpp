#include "libmini/extras/flight/command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/flight/flight_story.hpp"

namespace mini::tools {
namespace {

namespace fs = std::filesystem;

struct FlightOptions {
    std::vector<std::string> paths;
    int last = 8;
};

// Returns the files in `paths`, sorted, with each folder replaced by the boxes in it. Throws
// UsageError if there is no file.
std::vector<std::string> find_flights(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(path)) {
            const fs::path& file = entry.path();
            const bool ours = file.filename().string().rfind("flight-", 0) == 0;
            if (ours && file.extension() == ".box") files.push_back(file.string());
        }
    }
    if (files.empty())
        throw UsageError(concat("no box of a flight recorder (flight-*.box) in ",
                                paths.empty() ? "nothing" : paths.front()));
    std::sort(files.begin(), files.end());
    return files;
}

void print_group(const GroupFlight& group, int last) {
    const dist::FlightHead& head = group.head();
    fmt::print("run {}{}, {}{}, backend {}: {} of {} ranks left a box\n\n", head.run,
               head.restart > 0 ? fmt::format(" (restart {})", head.restart) : "",
               head.group == "default" ? "default group" : head.group,
               head.members.empty() ? "" : " of " + rank_list(head.members), head.backend,
               group.ranks.size(), head.world_size);
    for (const std::string& sentence : tell(group)) fmt::print("{}\n", sentence);
    fmt::print("{}", flight_table(group, last));
}

void run_flight(const FlightOptions& options) {
    std::vector<dist::Flight> flights;
    for (const std::string& file : find_flights(options.paths))
        flights.push_back(read_flight(file));
    const std::vector<GroupFlight> groups = by_group(std::move(flights));
    for (const GroupFlight& group : groups) {
        if (&group != &groups.front()) fmt::print("\n");
        print_group(group, options.last);
    }
}

}  // namespace

void add_flight(Command& mini) {
    Command flight = mini.add_command(
        "flight", "Says who is missing in which operation, from flight recorders' boxes");
    auto options = std::make_shared<FlightOptions>();
    flight.add("PATH", options->paths, "Boxes of all ranks, or a folder of them")
        .required();
    flight.add("--last", options->last, "Operations in the table (8)").range(0, 4096);
    flight.on_parsed([options] { run_flight(*options); });
}

}  // namespace mini::tools
