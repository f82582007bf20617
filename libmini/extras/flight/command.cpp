#include "libmini/extras/flight/command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/terminal.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/flight/flight_file.hpp"
#include "libmini/extras/flight/flight_story.hpp"
#include "libmini/extras/flight/flight_table.hpp"

namespace mini::tools {
namespace {

struct FlightOptions {
    std::vector<std::string> paths;
    std::string format = "table";
    bool json_lines = false;
    int last = 8;
};

void print_group(const GroupFlight& group, const FlightOptions& options) {
    const dist::FlightHead& head = group.head();
    fmt::print("run {}{}, {}{}, backend {}: {} of {} ranks left a box\n\n", head.run,
               head.restart > 0 ? fmt::format(" (restart {})", head.restart) : "",
               head.group == "default" ? "default group" : head.group,
               head.members.empty() ? "" : " of " + rank_list(head.members), head.backend,
               group.ranks.size(), head.world_size);
    for (const std::string& sentence : tell(group)) fmt::print("{}\n", sentence);
    fmt::print("{}", flight_table(group, {.colour = has_colours(STDOUT_FILENO),
                                          .last = options.last}));
}

nlohmann::ordered_json rank_json(const RankFlight& rank) {
    nlohmann::ordered_json json = {{"rank", rank.head.world_rank},
                                   {"host", rank.head.host},
                                   {"pid", rank.head.pid},
                                   {"reason", rank.head.reason},
                                   {"recorded", rank.head.recorded}};
    if (!rank.records.empty()) {
        const FlightRecord& last = rank.records.back();
        json["last"] = {{"what", describe(last)},
                        {"state", dist::state_name(last.state)}};
    }
    return json;
}

void print_json(const std::vector<GroupFlight>& groups) {
    auto json = nlohmann::ordered_json::array();
    for (const GroupFlight& group : groups) {
        auto ranks = nlohmann::ordered_json::array();
        for (const RankFlight& rank : group.ranks) ranks.push_back(rank_json(rank));
        json.push_back({{"run", group.head().run},
                        {"restart", group.head().restart},
                        {"group", group.head().group},
                        {"members", group.head().members},
                        {"world_size", group.head().world_size},
                        {"ranks_without_box", ranks_without_box(group)},
                        {"findings", tell(group)},
                        {"ranks", ranks}});
    }
    fmt::print("{}\n", json.dump());
}

void run_flight(const FlightOptions& options) {
    std::vector<RankFlight> flights;
    for (const std::string& file : find_flights(options.paths))
        flights.push_back(read_flight(file));
    if (options.json_lines) {
        for (const RankFlight& flight : flights) fmt::print("{}", json_lines(flight));
        return;
    }
    const std::vector<GroupFlight> groups = by_group(std::move(flights));
    if (options.format == "json") return print_json(groups);
    for (const GroupFlight& group : groups) {
        if (&group != &groups.front()) fmt::print("\n");
        print_group(group, options);
    }
}

}  // namespace

void add_flight(Command& mini) {
    Command flight = mini.add_command(
        "flight", "Says who is missing in which operation, from flight recorders' boxes");
    auto options = std::make_shared<FlightOptions>();
    flight.add("PATH", options->paths, "Boxes of all ranks, or a folder of them")
        .required();
    flight.add("--format", options->format, "table, or json").one_of({"table", "json"});
    flight.add_flag("--json", options->json_lines,
                    "Prints all records as JSON lines: the rank, then its operations");
    flight.add("--last", options->last, "Operations in the table (8)").range(0, 4096);
    flight.on_parsed([options] { run_flight(*options); });
}

}  // namespace mini::tools
