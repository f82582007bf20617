#include "libmini/tools/minirun/flight_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/core/temporary_folder.hpp"
#include "libmini/tools/mini/flight_story.hpp"

namespace mini::tools {
namespace {

namespace fs = std::filesystem;
using dist::FlightRecord;

// Returns the most relevant operation: the last running operation, else the last failed
// operation, else the last started operation; null if no operation was started.
const FlightRecord* most_relevant(const dist::Flight& flight) {
    const FlightRecord* best = nullptr;
    const auto weight = [](const FlightRecord& record) {
        if (record.state == FlightRecord::State::kStarted) return 2;
        return record.state == FlightRecord::State::kFailed ? 1 : 0;
    };
    for (const FlightRecord& record : flight.records)
        if (record.started_at != 0 &&
            (best == nullptr || weight(record) >= weight(*best)))
            best = &record;
    return best;
}

}  // namespace

FlightFolder::FlightFolder(const std::string& wanted, const Caretaker& caretaker)
    : caretaker_(caretaker) {
    if (wanted.empty()) {
        try {
            path_ = new_private_folder("minirun-flight");
            caretaker_.will_remove(path_);
        } catch (const Error& error) {
            why_not_ = error.what();
        }
        return;
    }
    std::error_code failure;
    fs::create_directories(wanted, failure);
    if (failure)
        throw Error(
            concat("cannot create --flight-dir ", wanted, ": ", failure.message()));
    path_ = fs::absolute(wanted).string();
}

std::optional<dist::Flight> FlightFolder::read(const std::string& run, int rank) const {
    if (path_.empty()) return std::nullopt;
    const dist::FlightHead head{
        .run = run, .group = "default", .backend = "", .host = ""};
    const fs::path path = fs::path(path_) / dist::flight_file_name(head, rank);
    if (!fs::exists(path)) return std::nullopt;
    return dist::read_box_file(path);
}

std::string FlightFolder::last_operation(const std::string& run, const End& end) const {
    const std::optional<dist::Flight> flight = read(run, end.rank);
    if (!flight) return "";
    const FlightRecord* const record = most_relevant(*flight);
    if (record == nullptr) return "it had not started any operation of its group";

    const std::string what = dist::describe(*record);
    const int64_t begin = record->started_at;
    switch (record->state) {
        case FlightRecord::State::kStarted:
            return concat("it was in ", what, " for ",
                          duration_text(end.seen_at - begin));
        case FlightRecord::State::kFailed:
            return concat("it failed in ", what, " after ",
                          duration_text(record->ended_at - begin));
        default: break;
    }
    return concat("its last operation was ", what, ", finished ",
                  duration_text(end.seen_at - record->ended_at), " before its end");
}

std::optional<int> FlightFolder::blamed_by(const std::string& run, int rank) const {
    const std::optional<dist::Flight> flight = read(run, rank);
    if (!flight || flight->head.blamed < 0) return std::nullopt;
    return flight->head.blamed;
}

bool FlightFolder::keep(const std::string& run) {
    if (path_.empty()) return false;
    for (const auto& entry : fs::directory_iterator(path_)) {
        const fs::path& box = entry.path();
        if (box.extension() != ".box") continue;
        const dist::Flight flight = dist::read_box_file(box);
        if (flight.head.run != run) continue;
        if (flight.head.seen_at == 0) dist::note_end(box);
        kept_ = true;
        caretaker_.will_keep_folder();
    }
    return kept_;
}

}  // namespace mini::tools
