// "did you mean --max-restarts?": suggests the known word that is closest to a mistyped
// word.

#pragma once

#include <string>
#include <vector>

namespace mini::tools {

/// Returns the minimum number of insertions, deletions, replacements and swaps of
/// adjacent letters that turn `a` into `b` (Damerau's distance). Costs |a| |b| steps.
int edit_distance(const std::string& a, const std::string& b);

/// Returns "; did you mean --max-restarts?", or "" if no known word is close to `word`.
/// The part of `word` after a "=" is ignored.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace mini::tools
