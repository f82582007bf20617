#include "libmini/extras/flight/flight_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

using State = FlightRecord::State;

constexpr size_t kCell = 16;  // width of a column, with trailing spaces
// A sequence number, and the description of an operation that a rank called with it.
using Row = std::pair<uint64_t, std::string>;

std::string cell_of(const RankFlight& rank, const Row& row) {
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

// Returns the rows of the `last` highest sequence numbers of all ranks. A number has more
// than one row if the ranks called different operations.
std::vector<Row> last_operations(const GroupFlight& group, int last) {
    std::map<uint64_t, std::set<std::string>> names;
    for (const RankFlight& rank : group.ranks)
        for (const FlightRecord& record : rank.records)
            if (!is_point(record))
                names[record.collective.sequence].insert(describe(record));
    while (names.size() > static_cast<size_t>(last)) names.erase(names.begin());
    std::vector<Row> rows;
    for (const auto& [sequence, different] : names)
        for (const std::string& what : different) rows.emplace_back(sequence, what);
    return rows;
}

}  // namespace

std::string flight_table(const GroupFlight& group, int last) {
    const std::vector<Row> operations = last_operations(group, last);
    if (operations.empty()) return "";
    size_t longest = 0;
    for (const auto& [sequence, what] : operations)
        longest = std::max(longest, what.size());
    std::string text = fmt::format("\n{:<{}}", "", longest + 2);
    for (const RankFlight& rank : group.ranks)
        text += fmt::format("{:<{}}", concat("rank ", rank.head.world_rank), kCell);
    for (const Row& row : operations) {
        text += fmt::format("\n{:<{}}", row.second, longest + 2);
        for (const RankFlight& rank : group.ranks)
            text += fmt::format("{:<{}}", cell_of(rank, row), kCell);
    }
    return text + "\n";
}

}  // namespace mini::tools
