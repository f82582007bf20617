// Which stub or mutant is switched on in a build of `labs/lab dev check`.
//
// That build has every region with all of its bodies in it (labs/lab_tool/schemata.py):
//
//     if (mini::schemata::stubbed("lab07.2")) MINI_TODO(...);
//     else if (mini::schemata::mutated("lab07.2/contiguous-shards")) { ...wrong... }
//     else { ...the reference... }
//
// MINI_STUB=lab07.1,lab07.2 and MINI_MUTANT=lab07.2/contiguous-shards choose at run time, so
// one build serves for all of them.

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace mini::schemata {

/// Whether the list with commas between in the environment's `variable` has `name`.
inline bool listed(const char* variable, std::string_view name) {
    const char* const value = std::getenv(variable);
    if (!value) return false;
    const std::string list = std::string(",") + value + ",";
    return list.find("," + std::string(name) + ",") != std::string::npos;
}

inline bool stubbed(std::string_view task) { return listed("MINI_STUB", task); }
inline bool mutated(std::string_view name) { return listed("MINI_MUTANT", name); }

}  // namespace mini::schemata
