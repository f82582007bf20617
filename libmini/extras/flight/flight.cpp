#include "libmini/extras/flight/flight.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/net/rank_records.hpp"
#include "libmini/extras/flight/flight_box.hpp"
#include "libmini/extras/flight/flight_recorder.hpp"
#include "libmini/extras/flight/flight_story.hpp"

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

// Returns the boxes of a rank: of the default group and of its subgroups.
std::vector<dist::Flight> read(const std::string& folder, const std::string& run,
                               int rank) {
    const dist::FlightHead head{
        .run = run, .group = "default", .backend = "", .host = "", .world_rank = rank};
    const std::string of_default = dist::flight_file_name(head);
    const std::string start = fs::path(of_default).stem().string() + "-";
    std::vector<dist::Flight> flights;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool is_of_subgroup = name.starts_with(start) && name.ends_with(".box");
        if (name == of_default || is_of_subgroup)
            flights.push_back(dist::read_box_file(entry.path()));
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
    for (const auto& entry : fs::directory_iterator(folder)) {
        const fs::path& box = entry.path();
        if (box.extension() != ".box") continue;
        const dist::Flight flight = dist::read_box_file(box);
        if (flight.head.run != run) continue;
        if (flight.head.seen_at == 0) dist::note_end(box);
        has_any = true;
    }
    return has_any;
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

}  // namespace mini::flight
