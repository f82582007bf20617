#pragma once

namespace mini::dist {

/// Registers the launchers and the init method file:// of this folder (rank_variables.hpp).
void use_launchers();

}  // namespace mini::dist
