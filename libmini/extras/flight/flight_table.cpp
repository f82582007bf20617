#include "libmini/extras/flight/flight_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace mini::tools {
namespace {

using State = FlightRecord::State;

constexpr size_t kCell = 16;  // width of a column, with trailing spaces
constexpr size_t kMaxNameWidth = 44;
constexpr const char* kDim = "\033[2m";
constexpr const char* kReset = "\033[0m";

// The text of one cell and its colour.
struct Cell {
    std::string text;
    const char* colour = kDim;
};

// A sequence number, and the description of an operation that a rank called with it.
using Row = std::pair<uint64_t, std::string>;

Cell cell_of(const RankFlight& rank, const Row& row) {
    const auto& [sequence, what] = row;
    const FlightRecord* const record = find_record(rank, sequence);
    if (record == nullptr) return {has_finished(rank, sequence) ? "done" : "-"};
    if (describe(*record) != what) return {"-"};
    if (record->started_at == 0)
        return {record->state == State::kFailed ? "not run" : "queued"};
    const std::string time = duration_text(time_in(*record, rank));
    switch (record->state) {
        case State::kFinished: return {fmt::format("done {}", time), "\033[32m"};
        case State::kFailed: return {fmt::format("failed {}", time), "\033[31m"};
        default: break;
    }
    return {fmt::format("in it {}", time), "\033[33m"};
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

std::string shortened(const std::string& text, size_t length) {
    return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

}  // namespace

std::string flight_table(const GroupFlight& group, const FlightTableOptions& options) {
    const std::vector<Row> operations = last_operations(group, options.last);
    if (operations.empty()) return "";
    size_t longest = 0;
    for (const auto& [sequence, what] : operations)
        longest = std::max(longest, what.size());
    longest = std::min(longest, kMaxNameWidth);

    // Print as many ranks side by side as fit, at least one.
    const size_t room = static_cast<size_t>(options.width) - longest;
    const size_t columns = std::max<size_t>(1, room / kCell);
    std::string text;
    for (size_t begin = 0; begin < group.ranks.size(); begin += columns) {
        const size_t end = std::min(begin + columns, group.ranks.size());
        text += fmt::format("\n{:<{}}", "", longest + 2);
        for (size_t k = begin; k < end; ++k)
            text += fmt::format(
                "{:<{}}", fmt::format("rank {}", group.ranks[k].head.world_rank), kCell);
        text += "\n";
        for (const Row& row : operations) {
            text += fmt::format("{:<{}}", shortened(row.second, longest), longest + 2);
            for (size_t k = begin; k < end; ++k) {
                const Cell cell = cell_of(group.ranks[k], row);
                const std::string padded = fmt::format("{:<{}}", cell.text, kCell);
                text += options.colour
                            ? fmt::format("{}{}{}", cell.colour, padded, kReset)
                            : padded;
            }
            text += "\n";
        }
    }
    return text;
}

}  // namespace mini::tools
