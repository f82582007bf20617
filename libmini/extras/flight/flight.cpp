#include "libmini/extras/flight/flight.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/net/rank_records.hpp"
#include "libmini/extras/flight/flight_diagnosis.hpp"
#include "libmini/extras/flight/flight_dump.hpp"
#include "libmini/extras/flight/flight_recorder.hpp"

namespace mini::flight {
namespace {

namespace fs = std::filesystem;
using dist::FlightRecord;
using tools::duration_text;

// Returns the most relevant operation of a rank's groups: the last running operation,
// else the last failed operation, else the last started operation; null if no operation
// was started.
const FlightRecord* most_relevant(const std::vector<dist::Flight>& flights) {
    const FlightRecord* best = nullptr;
    const auto weight = [](const FlightRecord& record) {
        if (record.state == FlightRecord::State::kStarted) return 2;
        return record.state == FlightRecord::State::kFailed ? 1 : 0;
    };
    const auto key = [&](const FlightRecord& record) {
        return std::pair(weight(record), record.started_at);
    };
    for (const dist::Flight& flight : flights)
        for (const FlightRecord& record : flight.records)
            if (record.started_at != 0 && (best == nullptr || key(record) >= key(*best)))
                best = &record;
    return best;
}

// Returns the paths of the dumps in a folder.
std::vector<std::string> dumps_in(const std::string& folder) {
    std::vector<std::string> dumps;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("flight-") && name.ends_with(".dump"))
            dumps.push_back(entry.path().string());
    }
    return dumps;
}

// Returns the dumps of a rank: of the default group and of its subgroups.
std::vector<dist::Flight> read(const std::string& folder, const std::string& run,
                               int rank) {
    const dist::FlightHead head{
        .run = run, .group = "default", .backend = "", .host = "", .world_rank = rank};
    const std::string start = fs::path(dist::flight_file_name(head)).stem().string();
    std::vector<dist::Flight> flights;
    for (const std::string& dump : dumps_in(folder)) {
        const std::string stem = fs::path(dump).stem().string();
        if (stem == start || stem.starts_with(start + "-"))
            flights.push_back(dist::read_dump_file(dump));
    }
    return flights;
}

// The functions of dist::RankRecords.

std::string last_operation(const std::string& folder, const std::string& run, int rank,
                           int64_t ended_at) {
    const std::vector<dist::Flight> flights = read(folder, run, rank);
    if (flights.empty()) return "";
    const FlightRecord* const record = most_relevant(flights);
    if (record == nullptr) return "it had not started any operation of its group";

    const std::string what = dist::describe(*record);
    const int64_t begin = record->started_at;
    switch (record->state) {
        case FlightRecord::State::kStarted:
            return concat("it was in ", what, " for ", duration_text(ended_at - begin));
        case FlightRecord::State::kFailed:
            return concat("it failed in ", what, " after ",
                          duration_text(record->ended_at - begin));
        default: break;
    }
    return concat("its last operation was ", what, ", finished ",
                  duration_text(ended_at - record->ended_at), " before its end");
}

std::optional<int> blamed_by(const std::string& folder, const std::string& run,
                             int rank) {
    // The first failure counts: the rank's other groups fail because of it.
    std::optional<dist::FlightHead> first;
    for (const dist::Flight& flight : read(folder, run, rank))
        if (flight.head.blamed >= 0 && (!first || flight.head.seen_at < first->seen_at))
            first = flight.head;
    return first ? std::optional(first->blamed) : std::nullopt;
}

bool note_ends(const std::string& folder, const std::string& run) {
    bool has_any = false;
    for (const std::string& dump : dumps_in(folder)) {
        const dist::Flight flight = dist::read_dump_file(dump);
        if (flight.head.run != run) continue;
        if (flight.head.seen_at == 0) dist::note_end(dump);
        has_any = true;
    }
    return has_any;
}

// The command mini flight.

// Returns the files in `paths`, sorted, with each folder replaced by the dumps in it.
// Throws UsageError if there is no file.
std::vector<std::string> find_flights(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const std::string& dump : dumps_in(path)) files.push_back(dump);
    }
    if (files.empty())
        throw UsageError("no dump of a flight recorder (flight-*.dump) in ",
                         paths.empty() ? "nothing" : paths.front());
    std::ranges::sort(files);
    return files;
}

void print_group(const tools::GroupFlight& group) {
    const dist::FlightHead& head = group.head();
    fmt::print("run {}{}, {}{}, backend {}: {} of {} ranks left a dump\n\n", head.run,
               head.restart > 0 ? fmt::format(" (restart {})", head.restart) : "",
               head.group == "default" ? "default group" : head.group,
               head.members.empty() ? "" : " of " + rank_list(head.members), head.backend,
               group.ranks.size(), head.world_size);
    for (const std::string& sentence : tell(group)) fmt::print("{}\n", sentence);
    fmt::print("{}", flight_table(group));
}

void run_flight(const std::vector<std::string>& paths) {
    std::vector<dist::Flight> flights;
    for (const std::string& file : find_flights(paths))
        flights.push_back(tools::read_flight(file));
    const std::vector<tools::GroupFlight> groups = tools::by_group(std::move(flights));
    for (const tools::GroupFlight& group : groups) {
        if (&group != &groups.front()) fmt::print("\n");
        print_group(group);
    }
}

}  // namespace

void use() {
    dist::make_group_observer =
        [](const dist::GroupOfRank& group) -> std::unique_ptr<dist::GroupObserver> {
        return std::make_unique<dist::FlightRecorder>(group);
    };
    dist::rank_records() = {
        .last_operation = last_operation, .blamed_by = blamed_by, .note_ends = note_ends};
}

void add_flight(Command& mini) {
    Command flight = mini.add_command(
        "flight", "Says who is missing in which operation, from flight recorders' dumps");
    auto paths = std::make_shared<std::vector<std::string>>();
    flight.add("PATH", *paths, "Dumps of all ranks, or a folder of them").required();
    flight.on_parsed([paths] { run_flight(*paths); });
}

}  // namespace mini::flight
