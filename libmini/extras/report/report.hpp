#pragma once

namespace mini::report {

/// Lets --logdir record runs with RunLog (run_log.hpp).
void use();

}  // namespace mini::report
