#include "libmini/extras/cudasim/report.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

std::string describe(const Place& place) {
    std::string text = place.kernel;
    // The names of copies and fills have a blank.
    const bool is_kernel = !text.empty() && text.find(' ') == std::string::npos;
    if (is_kernel)
        text += concat(", block ", coordinates(place.block), ", thread ",
                       coordinates(place.thread));
    if (place.line > 0 || text.empty())
        text += concat(text.empty() ? "" : ", ", describe_line(place.file, place.line));
    return text;
}

bool same_line(const Place& a, const Place& b) {
    return a.line == b.line && a.file == b.file;
}

// Returns whether the race is on the source line of this uninitialised read or note.
bool explains(const Report& race, const Report& read) {
    return race.mistake == Mistake::kRace &&
           (same_line(race.at, read.at) || same_line(race.other, read.at));
}

}  // namespace

std::string coordinates(dim3 at) {
    return concat("(", at.x, ", ", at.y, ", ", at.z, ")");
}

std::string describe_line(const std::string& file, int line) {
    if (line == 0) return "unknown source line";
    std::error_code unknown;
    const auto here = std::filesystem::current_path(unknown);
    const auto path =
        std::filesystem::path(file).lexically_normal().lexically_relative(here);
    return concat(path.empty() || *path.begin() == ".." ? file : path.string(), ":",
                  line);
}

std::string describe(const Report& report) {
#define MINI_NAME(mistake, name) name,
    static constexpr std::array kNames = {MINI_MISTAKES(MINI_NAME)};
#undef MINI_NAME
    std::string text = concat(kNames[static_cast<size_t>(report.mistake)], ": ",
                              describe(report.at), "\n    ", report.message);
    if (!report.other.kernel.empty() || report.other.line > 0)
        text += concat("\n    the other: ", describe(report.other));
    if (report.count > 1) text += concat("\n    and ", report.count - 1, " more like it");
    return text;
}

bool Findings::met(Mistake mistake, const void* at, const void* other) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find({mistake, at, other});
    if (found == known_.end()) return false;
    ++findings_[found->second].count;
    return true;
}

void Findings::add(Mistake mistake, Place at, Place other, std::string message) {
    if (met(mistake, at.address, other.address)) return;
    const std::lock_guard lock(mutex_);
    known_[{mistake, at.address, other.address}] = findings_.size();
    findings_.push_back({mistake, std::move(at), std::move(other), std::move(message)});
}

std::vector<Report> Findings::take() {
    std::vector<Report> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(findings_);
        known_.clear();
    }

    // Look up all lines together.
    std::vector<const void*> addresses;
    for (const Report& finding : all)
        for (const Place* place : {&finding.at, &finding.other})
            addresses.insert(addresses.end(), {place->address, place->launch});
    auto lines = lines_of(addresses);

    // Merge findings with the same kind, kernels and lines.
    using Where = std::tuple<std::string, std::string, int>;
    const auto where = [](const Place& at) { return Where{at.kernel, at.file, at.line}; };
    std::map<std::tuple<Mistake, Where, Where>, size_t> index_of;
    std::vector<Report> reports;
    for (Report& report : all) {
        for (Place* place : {&report.at, &report.other}) {
            const bool known = lines[place->address].number > 0;
            const Line& line = lines[known ? place->address : place->launch];
            place->file = line.file;
            place->line = line.number;
            const Line& launch = lines[place->launch];
            if (known && launch.number > 0 && report.mistake == Mistake::kMissingSync)
                report.message += concat("; ", place->kernel, " was launched at ",
                                         describe_line(launch.file, launch.number));
        }
        // Two barriers on one line are the same barrier, compiled twice.
        if (report.mistake == Mistake::kBarrier && report.other.line > 0 &&
            same_line(report.at, report.other))
            continue;
        const auto places = std::minmax({where(report.at), where(report.other)});
        const auto [at, is_new] = index_of.try_emplace(
            {report.mistake, places.first, places.second}, reports.size());
        if (is_new)
            reports.push_back(std::move(report));
        else
            reports[at->second].count += report.count;
    }
    const auto races = reports;
    std::erase_if(reports, [&](const Report& report) {
        return (report.mistake == Mistake::kUninitialised || is_note(report.mistake)) &&
               std::any_of(races.begin(), races.end(),
                           [&](const Report& race) { return explains(race, report); });
    });
    return reports;
}

}  // namespace mini::sim
