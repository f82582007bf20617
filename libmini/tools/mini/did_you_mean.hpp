// "did you mean --max-restarts?": the known word that a mistyped one is closest to.

#pragma once

#include <string>
#include <vector>

namespace mini::tools {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (Damerau's distance). Costs |a| |b| steps.
int edit_distance(const std::string& a, const std::string& b);

/// "; did you mean --max-restarts?", or "" when no known word is close to `word`. What
/// follows a "=" does not count.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace mini::tools
