// How programs measure a time: the median over batches of runs.

#pragma once

#include <functional>

namespace mini {

/// Returns the seconds of one run of `work`: the median over 9 batches, which together
/// take about `seconds`; if a run takes longer than a ninth of `seconds`, over as many
/// runs as fit, at least one. Does not warm up. Blocks.
double seconds_each(double seconds, const std::function<void()>& work);

}  // namespace mini
