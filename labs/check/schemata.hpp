// Selects the stub or mutant that runs in a build of `labs/lab dev check`.
//
// In that build every region contains all of its bodies (labs/lab_tool/schemata.py):
//
//     if (mini::schemata::stubbed("lab07.2")) MINI_TODO(...);
//     else if (mini::schemata::mutated("lab07.2/contiguous-shards")) { ...wrong... }
//     else { ...the reference... }
//
// MINI_STUB=lab07.1,lab07.2 and MINI_MUTANT=lab07.2/contiguous-shards select bodies at
// run time, so one build is enough for all stubs and mutants.

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace mini::schemata {

/// Returns whether the comma-separated list in the environment variable `variable` has
/// `name`.
inline bool listed(const char* variable, std::string_view name) {
    const char* const value = std::getenv(variable);
    if (!value) return false;
    const std::string list = std::string(",") + value + ",";
    return list.find("," + std::string(name) + ",") != std::string::npos;
}

inline bool stubbed(std::string_view task) { return listed("MINI_STUB", task); }
inline bool mutated(std::string_view name) { return listed("MINI_MUTANT", name); }

}  // namespace mini::schemata
