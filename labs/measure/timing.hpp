// How programs measure a time: the median over batches of runs.

#pragma once

#include <functional>

namespace mini {

/// Runs `work` for about `seconds`, in 9 batches (fewer if one run takes longer than a
/// ninth of that, at least one), and returns the median time of one run. There is no
/// warm-up run. Blocks.
double seconds_each(double seconds, const std::function<void()>& work);

}  // namespace mini
