#include "libmini/core/world.hpp"

namespace mini {
namespace {

thread_local std::optional<World> this_world;

}  // namespace

std::optional<World> current_world() { return this_world; }

void set_current_world(std::optional<World> world) { this_world = world; }

}  // namespace mini
