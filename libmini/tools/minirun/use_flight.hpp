#pragma once

namespace mini::tools {

/// Lets minirun read the flight recorders' boxes of ranks that have ended, if this build
/// has the extra flight. CMake writes the definition (CMakeLists.txt).
void use_flight();

}  // namespace mini::tools
