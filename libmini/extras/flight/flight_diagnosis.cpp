#include "libmini/extras/flight/flight_diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::tools {
namespace {

using dist::Flight;
using dist::FlightRecord;
using State = FlightRecord::State;

constexpr size_t kMaxPoints = 10;  // maximum number of listed sends and receives
constexpr size_t kOperations = 8;  // rows of the table, if no two ranks' calls differ
constexpr size_t kCell = 16;       // width of a column, with trailing spaces

bool is_finished(const FlightRecord& record) { return record.state == State::kFinished; }

// Returns whether the operation has started but not finished: it is running, or failed
// while running.
bool is_open(const FlightRecord& record) {
    return record.started_at != 0 && !is_finished(record);
}

// Returns the record of the operation with this sequence number, or null.
const FlightRecord* find_record(const Flight& rank, uint64_t sequence) {
    for (auto it = rank.records.rbegin(); it != rank.records.rend(); ++it)
        if (!is_point(*it) && it->collective.sequence == sequence) return &*it;
    return nullptr;
}

// Returns whether `rank` has finished the operation with this sequence number, even if
// its record was overwritten.
bool has_finished(const Flight& rank, uint64_t sequence) {
    if (const FlightRecord* const record = find_record(rank, sequence))
        return is_finished(*record);
    for (const FlightRecord& record : rank.records)
        if (!is_point(record))
            return sequence < record.collective.sequence;  // the record was overwritten
    return false;
}

// Returns how long the operation ran, in nanoseconds: until its end, or until the dump
// was last seen.
int64_t time_in(const FlightRecord& record, const Flight& rank) {
    return (record.ended_at != 0 ? record.ended_at : rank.head.seen_at) -
           record.started_at;
}

// Returns the ranks of the job that are in the group but left no dump.
std::vector<int> ranks_without_dump(const GroupFlight& group) {
    std::set<int> present;
    for (const Flight& rank : group.ranks) present.insert(rank.head.rank);
    const std::vector<int>& members = group.head().members;
    std::vector<int> missing;
    for (int rank = 0; rank < group.head().world_size; ++rank)
        if (!present.contains(rank))
            missing.push_back(members.empty() ? rank
                                              : members[static_cast<size_t>(rank)]);
    return missing;
}

// Returns the lowest sequence number of an open operation of any rank; std::nullopt if no
// operation is open.
std::optional<uint64_t> lowest_open(const GroupFlight& group) {
    std::optional<uint64_t> lowest;
    for (const Flight& rank : group.ranks)
        for (const FlightRecord& record : rank.records)
            if (!is_point(record) && is_open(record))
                lowest = std::min(lowest.value_or(record.collective.sequence),
                                  record.collective.sequence);
    return lowest;
}

const FlightRecord* last_finished(const Flight& rank) {
    const FlightRecord* last = nullptr;
    for (const FlightRecord& record : rank.records)
        if (!is_point(record) && is_finished(record)) last = &record;
    return last;
}

// Returns "rank 1 has not called it (its last finished call: barrier #56)".
std::string absence(const Flight& rank, uint64_t sequence) {
    const FlightRecord* const last = last_finished(rank);
    const std::string done = last == nullptr
                                 ? std::string("it has finished no call")
                                 : fmt::format("its last finished call: {} #{}",
                                               operation_name(last->collective.operation),
                                               last->collective.sequence);
    return fmt::format("rank {} has {} ({})", rank.head.world_rank,
                       find_record(rank, sequence) == nullptr
                           ? "not called it"
                           : "queued it, but not started it",
                       done);
}

// Returns a sentence that lists the ranks that are in operation `sequence`, the ranks
// that have not started the operation, and the ranks that have finished it. If the ranks
// called different operations, the sentence has only their number.
std::string tell_open(const GroupFlight& group, uint64_t sequence) {
    std::vector<int> inside, past;
    std::set<std::string> what;
    std::string absent;
    int64_t longest = 0;
    bool failed = false;
    for (const Flight& rank : group.ranks) {
        const FlightRecord* const record = find_record(rank, sequence);
        if (record != nullptr) what.insert(describe(*record));
        if (has_finished(rank, sequence)) {
            past.push_back(rank.head.world_rank);
        } else if (record != nullptr && is_open(*record)) {
            inside.push_back(rank.head.world_rank);
            failed = failed || record->state == State::kFailed;
            longest = std::max(longest, time_in(*record, rank));
        } else {
            absent += fmt::format("; {}", absence(rank, sequence));
        }
    }
    std::string text =
        fmt::format("{}: {} {} in it for {}{}{}",
                    what.size() == 1 ? *what.begin() : concat("operation #", sequence),
                    rank_list(inside),
                    failed ? (inside.size() > 1 ? "were" : "was")
                           : (inside.size() > 1 ? "have been" : "has been"),
                    duration_text(longest), failed ? " until it failed" : "", absent);
    if (!past.empty()) text += fmt::format("; {} finished it", rank_list(past));
    return text;
}

// Returns "ranks 0 and 2 called barrier #5; rank 1 called ...".
std::string who_did(const std::string& verb,
                    const std::map<std::string, std::vector<int>>& ranks_by_operation) {
    std::string text;
    for (const auto& [what, ranks] : ranks_by_operation)
        text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", rank_list(ranks),
                            verb, what);
    return text;
}

// Returns a sentence about the lowest sequence number with which ranks called different
// operations; std::nullopt if there is no such number.
std::optional<std::string> tell_mismatch(const GroupFlight& group) {
    std::map<uint64_t, std::map<std::string, std::vector<int>>> called;
    for (const Flight& rank : group.ranks)
        for (const FlightRecord& record : rank.records)
            if (!is_point(record))
                called[record.collective.sequence][describe(record)].push_back(
                    rank.head.world_rank);
    for (const auto& [sequence, callers] : called) {
        if (callers.size() < 2) continue;
        return fmt::format("operation #{} is not the same on all ranks: {}", sequence,
                           who_did("called", callers));
    }
    return std::nullopt;
}

// Returns a sentence about a group without open operations.
std::string tell_quiet(const GroupFlight& group) {
    std::map<std::string, std::vector<int>> last;
    for (const Flight& rank : group.ranks) {
        const FlightRecord* const record = last_finished(rank);
        last[record == nullptr ? "nothing" : describe(*record)].push_back(
            rank.head.world_rank);
    }
    if (last.size() == 1)
        return fmt::format(
            "no operation is running: the last one that all ranks finished is {}",
            last.begin()->first);
    return concat("no operation is running, but the ranks' last ones differ: ",
                  who_did("finished", last));
}

// Appends sentences about open sends and receives to `sentences`, at most kMaxPoints.
void tell_points(const GroupFlight& group, std::vector<std::string>& sentences) {
    size_t listed = 0, all = 0;
    for (const Flight& rank : group.ranks)
        for (const FlightRecord& record : rank.records) {
            if (!is_point(record) || !is_open(record) || ++all > kMaxPoints) continue;
            const bool failed = record.state == State::kFailed;
            sentences.push_back(fmt::format(
                "rank {} {} in {} for {}", rank.head.world_rank, failed ? "was" : "is",
                describe(record), duration_text(time_in(record, rank))));
            ++listed;
        }
    if (all > listed)
        sentences.push_back(
            fmt::format("... and {} more messages in flight", all - listed));
}

// A sequence number, and the description of an operation that a rank called with it.
using Row = std::pair<uint64_t, std::string>;

std::string cell_of(const Flight& rank, const Row& row) {
    const auto& [sequence, what] = row;
    const FlightRecord* const record = find_record(rank, sequence);
    if (record == nullptr) return has_finished(rank, sequence) ? "done" : "-";
    if (describe(*record) != what) return "-";
    if (record->started_at == 0)
        return record->state == State::kFailed ? "not run" : "queued";
    const std::string time = duration_text(time_in(*record, rank));
    switch (record->state) {
        case State::kFinished: return "done " + time;
        case State::kFailed: return "failed " + time;
        default: break;
    }
    return "in it " + time;
}

// Returns the rows of the kOperations highest sequence numbers of all ranks. A number has
// more than one row if the ranks called different operations.
std::vector<Row> last_operations(const GroupFlight& group) {
    std::map<uint64_t, std::set<std::string>> names;
    for (const Flight& rank : group.ranks)
        for (const FlightRecord& record : rank.records)
            if (!is_point(record))
                names[record.collective.sequence].insert(describe(record));
    while (names.size() > kOperations) names.erase(names.begin());
    std::vector<Row> rows;
    for (const auto& [sequence, different] : names)
        for (const std::string& what : different) rows.emplace_back(sequence, what);
    return rows;
}

}  // namespace

std::string duration_text(int64_t nanoseconds) {
    const auto time = static_cast<double>(nanoseconds);
    if (time >= 1e9) return fmt::format("{:.1f} s", time / 1e9);
    if (time >= 1e6) return fmt::format("{:.1f} ms", time / 1e6);
    return fmt::format("{:.1f} us", time / 1e3);
}

Flight read_flight(const std::string& path) {
    Flight flight = dist::read_dump_file(path);
    if (flight.head.seen_at == 0) flight.head.seen_at = now_of(flight.head);
    return flight;
}

std::vector<GroupFlight> by_group(std::vector<Flight> flights) {
    using Key = std::tuple<int64_t, std::string, std::string, std::vector<int>>;
    std::map<Key, GroupFlight> groups;
    for (Flight& flight : flights) {
        const dist::FlightHead& head = flight.head;
        auto& ranks = groups[{head.restart, head.run, head.group, head.members}].ranks;
        for (const Flight& other : ranks) {
            if (other.head.rank == head.rank)
                throw BadFile(flight.file, " and ", other.file, " are both of rank ",
                              head.world_rank, " of run ", head.run);
            if (other.head.world_size != head.world_size)
                throw BadFile(flight.file, " has world size ", head.world_size, " but ",
                              other.file, " has ", other.head.world_size);
        }
        ranks.push_back(std::move(flight));
    }
    std::vector<GroupFlight> sorted;
    for (auto& [name, group] : groups) {
        std::sort(group.ranks.begin(), group.ranks.end(),
                  [](const auto& a, const auto& b) { return a.head.rank < b.head.rank; });
        sorted.push_back(std::move(group));
    }
    return sorted;
}

std::vector<std::string> tell(const GroupFlight& group) {
    std::vector<std::string> sentences;
    if (const auto mismatch = tell_mismatch(group)) sentences.push_back(*mismatch);
    const size_t points_from = sentences.size();
    if (const auto sequence = lowest_open(group))
        sentences.push_back(tell_open(group, *sequence));
    tell_points(group, sentences);
    if (sentences.size() == points_from) sentences.push_back(tell_quiet(group));
    const std::vector<int> missing = ranks_without_dump(group);
    if (!missing.empty())
        sentences.push_back(
            fmt::format("no dump of {}: it may have died before its group was "
                        "made, or on another node",
                        rank_list(missing)));
    return sentences;
}

std::string flight_table(const GroupFlight& group) {
    const std::vector<Row> operations = last_operations(group);
    if (operations.empty()) return "";
    size_t longest = 0;
    for (const auto& [sequence, what] : operations)
        longest = std::max(longest, what.size());
    std::string text = fmt::format("\n{:<{}}", "", longest + 2);
    for (const Flight& rank : group.ranks)
        text += fmt::format("{:<{}}", concat("rank ", rank.head.world_rank), kCell);
    for (const Row& row : operations) {
        text += fmt::format("\n{:<{}}", row.second, longest + 2);
        for (const Flight& rank : group.ranks)
            text += fmt::format("{:<{}}", cell_of(rank, row), kCell);
    }
    return text + "\n";
}

}  // namespace mini::tools
