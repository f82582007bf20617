#include "libmini/tools/minirun/flight_folder.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/core/temporary_folder.hpp"
#include "libmini/distributed/net/rank_records.hpp"

namespace mini::tools {

FlightFolder::FlightFolder(const std::string& wanted) {
    if (wanted.empty()) {
        try {
            path_ = private_path_ = new_private_folder("minirun-flight");
        } catch (const Error& error) {
            why_not_ = error.what();
        }
        return;
    }
    std::error_code failure;
    std::filesystem::create_directories(wanted, failure);
    if (failure)
        throw Error(
            concat("cannot create --flight-dir ", wanted, ": ", failure.message()));
    path_ = std::filesystem::absolute(wanted).string();
}

std::string FlightFolder::last_operation(const std::string& run, const End& end) const {
    const auto records = dist::rank_records();
    if (path_.empty() || !records.last_operation) return "";
    return records.last_operation(path_, run, end.rank, end.seen_at);
}

std::optional<int> FlightFolder::blamed_by(const std::string& run, int rank) const {
    const auto records = dist::rank_records();
    if (path_.empty() || !records.blamed_by) return std::nullopt;
    return records.blamed_by(path_, run, rank);
}

bool FlightFolder::note_ends(const std::string& run) const {
    const auto records = dist::rank_records();
    return !path_.empty() && records.note_ends && records.note_ends(path_, run);
}

}  // namespace mini::tools
