#pragma once

namespace mini::extras {

/// Attaches all extras of this build to the core: faster kernels and the like. Call it once, in
/// main, before the first computation. Without this call the core computes everything itself.
void use_all();

}  // namespace mini::extras
