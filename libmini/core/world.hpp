// Which rank this thread is, of how many. dist::init_process_group sets it, so that rooms
// below or beside dist (samplers, messages) can ask without including it.

#pragma once

#include <optional>

namespace mini {

/// A rank, of how many.
struct World {
    int rank = 0;
    int size = 1;

    bool operator==(const World&) const = default;
};

/// The calling thread's place among the ranks; nothing before init_process_group and
/// after destroy_process_group.
std::optional<World> current_world();

/// Sets, or with nothing clears, the calling thread's place.
void set_current_world(std::optional<World> world);

}  // namespace mini
