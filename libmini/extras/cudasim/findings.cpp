#include "libmini/extras/cudasim/findings.hpp"

#include <algorithm>

#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

bool same_line(const Place& a, const Place& b) {
    return a.line == b.line && a.file == b.file;
}

bool same_kernels(const Report& a, const Report& b) {
    return std::minmax(a.at.kernel, a.other.kernel) ==
           std::minmax(b.at.kernel, b.other.kernel);
}

// Returns whether the race is on the source line of this uninitialised read or note.
bool explains(const Report& race, const Report& read) {
    return race.mistake == Mistake::kRace &&
           (same_line(race.at, read.at) || same_line(race.other, read.at));
}

}  // namespace

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
    for (const Report& finding : all) {
        addresses.push_back(finding.at.address);
        addresses.push_back(finding.other.address);
    }
    const auto lines = lines_of(addresses);

    // Merge findings with the same kind, kernels and lines.
    std::vector<Report> reports;
    for (size_t i = 0; i < all.size(); ++i) {
        Report& report = all[i];
        size_t line = 2 * i;
        for (Place* place : {&report.at, &report.other}) {
            place->file = lines[line].file;
            place->line = lines[line++].number;
        }
        // Two barriers on one line are the same barrier, compiled twice.
        if (report.mistake == Mistake::kBarrier && report.other.line > 0 &&
            same_line(report.at, report.other))
            continue;
        const auto twin =
            std::find_if(reports.begin(), reports.end(), [&](const Report& r) {
                return r.mistake == report.mistake && same_kernels(r, report) &&
                       ((same_line(r.at, report.at) &&
                         same_line(r.other, report.other)) ||
                        (same_line(r.at, report.other) && same_line(r.other, report.at)));
            });
        if (twin == reports.end())
            reports.push_back(std::move(report));
        else
            twin->count += report.count;
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
