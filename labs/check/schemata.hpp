// Selects the stub or mutant that runs in a build of `labs/lab dev check`.
//
// In that build every region contains all of its bodies (labs/author_tool/schemata.py):
//
//     if (mini::schemata::stubbed("lab07.2")) MINI_TODO(...);
//     else if (mini::schemata::mutated("lab07.2/contiguous-shards")) { ...wrong... }
//     else { ...the reference... }
//
// MINI_STUB=lab07.1 and MINI_MUTANT=lab07.2/contiguous-shards select a body at run time,
// so one build is enough for all stubs and mutants. With MINI_REACHED=<file> the
// tasks whose regions run are appended to that file. On the simulator, device code calls
// these functions too. They are not inline, because the simulator's checker would then
// report their accesses to host memory.

#pragma once

namespace mini::schemata {

/// Returns whether the environment variable MINI_STUB is this task: "lab07.2".
bool stubbed(const char* task);

/// Returns whether the environment variable MINI_MUTANT is this mutant.
bool mutated(const char* name);

}  // namespace mini::schemata
