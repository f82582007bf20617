#include "libmini/tools/mini/flight_story.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::tools {
namespace {

using State = FlightEntry::State;
constexpr size_t kMostPoints = 10;  // messages that are listed

// The lowest number that some rank is in.
std::optional<uint64_t> lowest_open(const GroupFlight& group) {
    std::optional<uint64_t> lowest;
    for (const RankFlight& rank : group.ranks)
        for (const FlightEntry& entry : rank.entries)
            if (!entry.point && entry.open())
                lowest = std::min(lowest.value_or(entry.sequence), entry.sequence);
    return lowest;
}

const FlightEntry* last_finished(const RankFlight& rank) {
    const FlightEntry* last = nullptr;
    for (const FlightEntry& entry : rank.entries)
        if (!entry.point && entry.finished()) last = &entry;
    return last;
}

// "rank 1 finished barrier #56 and has not called it".
std::string absence(const RankFlight& rank, uint64_t sequence) {
    const FlightEntry* const last = last_finished(rank);
    const std::string done =
        last == nullptr ? std::string("has finished nothing")
                        : fmt::format("finished {} #{}", last->operation, last->sequence);
    return fmt::format(
        "rank {} {} and has {}", rank.head.rank, done,
        find_entry(rank, sequence) == nullptr ? "not called it" : "it queued, not begun");
}

// Who is in number `sequence`, who is not, who is past it.
std::string tell_open(const GroupFlight& group, uint64_t sequence) {
    std::vector<int> inside, past;
    std::string what, absent, longest;
    int64_t longest_time = -1;
    bool failed = false;
    for (const RankFlight& rank : group.ranks) {
        const FlightEntry* const entry = find_entry(rank, sequence);
        if (has_finished(rank, sequence)) {
            past.push_back(rank.head.rank);
        } else if (entry != nullptr && entry->open()) {
            inside.push_back(rank.head.rank);
            failed = failed || entry->state == State::kFailed;
            if (what.empty()) what = entry->what;
            const int64_t end = entry->ended_at != 0 ? entry->ended_at : rank.now;
            if (end - entry->started_at <= longest_time) continue;
            longest_time = end - entry->started_at;
            longest = time_in(*entry, rank);
        } else {
            absent += fmt::format("; {}", absence(rank, sequence));
        }
    }
    std::string text = fmt::format("{}: {} {} in it for {}{}{}", what, rank_list(inside),
                                   failed ? (inside.size() > 1 ? "were" : "was")
                                          : (inside.size() > 1 ? "are" : "is"),
                                   longest, failed ? " until it failed" : "", absent);
    if (!past.empty()) text += fmt::format("; {} finished it", rank_list(past));
    return text;
}

// The lowest number that ranks called with different things.
std::optional<std::string> tell_mismatch(const GroupFlight& group) {
    std::map<uint64_t, std::map<std::string, std::vector<int>>> called;
    for (const RankFlight& rank : group.ranks)
        for (const FlightEntry& entry : rank.entries)
            if (!entry.point)
                called[entry.sequence][entry.what].push_back(rank.head.rank);
    for (const auto& [sequence, callers] : called) {
        if (callers.size() < 2) continue;
        std::string text =
            fmt::format("operation #{} is not the same on all ranks", sequence);
        const char* separator = ": ";
        for (const auto& [what, ranks] : callers) {
            text += fmt::format("{}{} called {}", separator, rank_list(ranks), what);
            separator = "; ";
        }
        return text;
    }
    return std::nullopt;
}

std::string tell_quiet(const GroupFlight& group) {
    std::map<std::string, std::vector<int>> last;
    for (const RankFlight& rank : group.ranks) {
        const FlightEntry* const entry = last_finished(rank);
        last[entry == nullptr ? "nothing" : entry->what].push_back(rank.head.rank);
    }
    if (last.size() == 1)
        return fmt::format(
            "nothing is under way: the last operation that all finished is {}",
            last.begin()->first);
    std::string text = "nothing is under way, but ranks have come to different places";
    const char* separator = ": ";
    for (const auto& [what, ranks] : last) {
        text += fmt::format("{}{} finished {}", separator, rank_list(ranks), what);
        separator = "; ";
    }
    return text;
}

// Messages from point to point that the peer never answered.
void tell_points(const GroupFlight& group, std::vector<std::string>& story) {
    size_t told = 0, all = 0;
    for (const RankFlight& rank : group.ranks)
        for (const FlightEntry& entry : rank.entries) {
            if (!entry.point || !entry.open() || ++all > kMostPoints) continue;
            const bool failed = entry.state == State::kFailed;
            story.push_back(fmt::format("rank {} {} in {} for {}", rank.head.rank,
                                        failed ? "was" : "is", entry.what,
                                        time_in(entry, rank)));
            ++told;
        }
    if (all > told)
        story.push_back(fmt::format("... and {} more messages under way", all - told));
}

}  // namespace

std::vector<GroupFlight> by_group(std::vector<RankFlight> flights) {
    std::map<std::tuple<int64_t, std::string, std::string>, GroupFlight> groups;
    for (RankFlight& flight : flights) {
        const dist::FlightHead& head = flight.head;
        auto& ranks = groups[{head.restart, head.run, head.group}].ranks;
        for (const RankFlight& other : ranks) {
            if (other.head.rank == head.rank)
                throw BadFile(concat(flight.file, " and ", other.file,
                                     " are both of rank ", head.rank, " of run ",
                                     head.run));
            if (other.head.world_size != head.world_size)
                throw BadFile(concat(flight.file, " has world size ", head.world_size,
                                     " but ", other.file, " has ",
                                     other.head.world_size));
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

std::vector<int> ranks_without_dump(const GroupFlight& group) {
    std::set<int> there;
    for (const RankFlight& rank : group.ranks) there.insert(rank.head.rank);
    std::vector<int> missing;
    for (int rank = 0; rank < group.head().world_size; ++rank)
        if (!there.contains(rank)) missing.push_back(rank);
    return missing;
}

const FlightEntry* find_entry(const RankFlight& rank, uint64_t sequence) {
    for (auto it = rank.entries.rbegin(); it != rank.entries.rend(); ++it)
        if (!it->point && it->sequence == sequence) return &*it;
    return nullptr;
}

bool has_finished(const RankFlight& rank, uint64_t sequence) {
    if (const FlightEntry* const entry = find_entry(rank, sequence))
        return entry->finished();
    for (const FlightEntry& entry : rank.entries)
        if (!entry.point)
            return sequence < entry.sequence;  // it fell out of the recorder
    return false;
}

std::string duration_text(int64_t nanoseconds) {
    const auto time = static_cast<double>(nanoseconds);
    if (time >= 1e9) return fmt::format("{:.1f} s", time / 1e9);
    if (time >= 1e6) return fmt::format("{:.1f} ms", time / 1e6);
    return fmt::format("{:.1f} us", time / 1e3);
}

std::string time_in(const FlightEntry& entry, const RankFlight& rank) {
    const int64_t end = entry.ended_at != 0 ? entry.ended_at : rank.now;
    return duration_text(end - entry.started_at);
}

std::vector<std::string> tell(const GroupFlight& group) {
    std::vector<std::string> story;
    if (const auto mismatch = tell_mismatch(group)) story.push_back(*mismatch);
    const size_t points_from = story.size();
    if (const auto sequence = lowest_open(group))
        story.push_back(tell_open(group, *sequence));
    tell_points(group, story);
    if (story.size() == points_from) story.push_back(tell_quiet(group));
    const std::vector<int> missing = ranks_without_dump(group);
    if (!missing.empty())
        story.push_back(
            fmt::format("no dump of {}: it may have died before its group was "
                        "made, or on another node",
                        rank_list(missing)));
    return story;
}

}  // namespace mini::tools
