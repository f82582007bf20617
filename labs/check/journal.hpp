// A journal of what happened, line by line, for the checks of the labs.

#pragma once

#include <string>
#include <vector>

namespace mini::labs {

using Journal = std::vector<std::string>;  // "start all_reduce 8", "wait all_reduce 8"

/// Returns all lines in one; "nothing" if there is none.
inline std::string in_words(const Journal& journal) {
    std::string text;
    for (const std::string& line : journal) text += (text.empty() ? "" : ", ") + line;
    return text.empty() ? "nothing" : text;
}

}  // namespace mini::labs
