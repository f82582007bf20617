// The flight recorder of every group, and what minirun reads in its boxes.

#pragma once

namespace mini::flight {

/// Records the operations of all later groups (flight_recorder.hpp), and lets minirun read
/// the boxes of ranks that have ended (rank_records.hpp). Call it in main.
void use();

}  // namespace mini::flight
