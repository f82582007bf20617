#include "libmini/distributed/rendezvous/rank_variables.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

std::optional<RankSource> registered;

// Throws UsageError if mpirun has started this process, whose rank only the extra reads.
void check_no_other_launcher(const Lookup& lookup) {
    for (const std::string name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (!lookup(name).empty())
            throw UsageError(
                "environment variable ", name,
                " is set, but this program cannot read it; start it with minirun, "
                "or configure with the extra \"launchers\" on and call "
                "extras::use_all() in main");
}

}  // namespace

void register_rank_source(const RankSource& source) { registered = source; }

const RankSource* rank_source() { return registered ? &*registered : nullptr; }

int parse_integer(const std::string& text, const std::string& what) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || rest != end)
        throw UsageError(what, " is \"", text, "\", which is not an integer");
    return number;
}

int number_in(const Lookup& lookup, const std::string& name) {
    const std::string text = lookup(name);
    if (text.empty()) return -1;
    const int number = parse_integer(text, concat("environment variable ", name));
    if (number < 0)
        throw UsageError("environment variable ", name, " is ", number,
                         "; it must not be negative");
    return number;
}

void check_ranges(const RankVariables& found, const std::string& rank_name,
                  const std::string& size_name) {
    if (found.world_size < 1)
        throw UsageError(size_name, " is ", found.world_size, "; it must be 1 or more");
    if (found.rank < 0 || found.rank >= found.world_size)
        throw UsageError(rank_name, " is ", found.rank, " but ", size_name, " is ",
                         found.world_size, "; ranks are 0 .. ", found.world_size - 1);
}

RankVariables read_launcher(const Lookup& lookup, const Launcher& launcher) {
    RankVariables found;
    found.source =
        concat(launcher.name, " (", launcher.rank, ", ", launcher.world_size, ")");
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = lookup(name);
    return found;
}

void check_pair(const Lookup& lookup, const Launcher& launcher) {
    const bool has_rank = !lookup(launcher.rank).empty();
    if (has_rank != lookup(launcher.world_size).empty()) return;
    const char* there = has_rank ? launcher.rank : launcher.world_size;
    throw UsageError("environment variable ",
                     has_rank ? launcher.world_size : launcher.rank,
                     " expected, but not set, while ", there, " is ", lookup(there),
                     "; set both or neither");
}

std::optional<RankVariables> read_rank_variables(const Lookup& lookup) {
    std::optional<RankVariables> chosen = read_launcher(lookup, kTorchrun);
    if (chosen->is_complete())
        check_ranges(*chosen, kTorchrun.rank, kTorchrun.world_size);
    else
        chosen = std::nullopt;
    if (rank_source())
        chosen = rank_source()->read(lookup, std::move(chosen));
    else if (!chosen)
        check_no_other_launcher(lookup);
    if (!chosen)
        check_pair(lookup, kTorchrun);
    else if (chosen->world_size == chosen->local_world_size && chosen->node_rank < 0)
        chosen->node_rank = 0;
    return chosen;
}

int port_from_text(const std::string& text) {
    // FNV-1a, 32 bits: the same on all systems, unlike std::hash.
    uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<int>(20000 + hash % 10000);
}

}  // namespace mini::dist
