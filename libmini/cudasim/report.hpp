// What the checker says: one report for each kind of mistake and line of source.

#pragma once

#include <cstddef>
#include <string>

#include "libmini/cudasim/types.hpp"

namespace mini::sim {

enum class Mistake {
    kOutOfBounds,    // beside an allocation, or a shared array
    kUseAfterFree,   // memory that was given back
    kHostPointer,    // the host's memory, from a kernel
    kWrongDevice,    // another device's memory
    kDevicePointer,  // a device's memory, from the host
    kUninitialised,  // read before anything was written there
    kRace,           // two threads of a launch, no barrier between them
    kMissingSync,    // two operations of different streams, or the host, unordered
    kBarrier,        // a barrier that some threads do not reach
    kWarpMask,       // a shuffle or vote whose mask does not name who takes part
    kMisaligned,     // a vector access that is not at a multiple of its size
};

/// "race", "out of bounds", ...
const char* name(Mistake mistake);

/// A line of source, and the thread of a kernel that was there. No kernel: the host, or a
/// copy. Line 0: not known.
struct Place {
    std::string kernel;
    std::string file;
    int line = 0;
    dim3 block{0, 0, 0};
    dim3 thread{0, 0, 0};
};

struct Report {
    Mistake mistake = Mistake::kOutOfBounds;
    Place at;
    Place other;          // of a race: who was there before; else empty
    std::string message;  // what happened, and how to mend it
    size_t count = 1;     // how often, at these lines
};

/// The whole report, as it is printed.
std::string describe(const Report& report);

}  // namespace mini::sim
