#include "libmini/extras/flight/command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/extras/flight/flight_file.hpp"
#include "libmini/extras/flight/flight_story.hpp"
#include "libmini/extras/flight/flight_table.hpp"

namespace mini::tools {
namespace {

struct FlightOptions {
    std::vector<std::string> paths;
    std::string format = "table";
    int last = 8;
};

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

void print_json(const std::vector<GroupFlight>& groups) {
    auto json = nlohmann::ordered_json::array();
    for (const GroupFlight& group : groups) {
        auto ranks = nlohmann::ordered_json::array();
        for (const RankFlight& rank : group.ranks) ranks.push_back(json_of(rank));
        json.push_back({{"run", group.head().run},
                        {"restart", group.head().restart},
                        {"group", group.head().group},
                        {"backend", group.head().backend},
                        {"members", group.head().members},
                        {"world_size", group.head().world_size},
                        {"ranks_without_box", ranks_without_box(group)},
                        {"findings", tell(group)},
                        {"ranks", ranks}});
    }
    // Bytes that are not UTF-8 become U+FFFD.
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
    fmt::print("{}\n", json.dump(-1, ' ', false, kReplace));
}

void run_flight(const FlightOptions& options) {
    std::vector<RankFlight> flights;
    for (const std::string& file : find_flights(options.paths))
        flights.push_back(read_flight(file));
    const std::vector<GroupFlight> groups = by_group(std::move(flights));
    if (options.format == "json") return print_json(groups);
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
    flight
        .add("--format", options->format,
             "table, or json: the findings, and all records of each rank")
        .one_of({"table", "json"});
    flight.add("--last", options->last, "Operations in the table (8)").range(0, 4096);
    flight.on_parsed([options] { run_flight(*options); });
}

}  // namespace mini::tools
