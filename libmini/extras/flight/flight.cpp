#include "libmini/extras/flight/flight.hpp"

#include <memory>

#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/net/rank_records.hpp"
#include "libmini/extras/flight/flight_folder.hpp"
#include "libmini/extras/flight/flight_recorder.hpp"

namespace mini::flight {

void use() {
    dist::observe_groups(
        [](const dist::GroupOfRank& group) -> std::unique_ptr<dist::GroupObserver> {
            return std::make_unique<dist::FlightRecorder>(group);
        });
    dist::use_rank_records({.last_operation = tools::last_operation,
                            .blamed_by = tools::blamed_by,
                            .note_ends = tools::note_ends});
}

}  // namespace mini::flight
