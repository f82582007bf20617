// The calling thread's rank and world size. Its default process group sets them, so that
// code that does not depend on dist (samplers, messages) can read them.

#pragma once

#include <optional>

namespace mini {

/// A rank and the world size.
struct World {
    int rank = 0;
    int size = 1;

    bool operator==(const World&) const = default;
};

/// Returns the calling thread's rank and world size; std::nullopt before
/// init_process_group and after destroy_process_group.
std::optional<World> current_world();

/// Sets the calling thread's rank and world size; std::nullopt clears them.
void set_current_world(std::optional<World> world);

}  // namespace mini
