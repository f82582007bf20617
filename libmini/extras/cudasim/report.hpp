// The checker's reports: one for each kind of mistake and source line.

#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

// clang-format off
// Each kind of mistake: its name in the code, and in reports.
#define MINI_MISTAKES(mistake)                                                              \
    mistake(kOutOfBounds, "out of bounds")      /* of an allocation or an array */          \
    mistake(kUseAfterFree, "use after free")                                                \
    mistake(kHostPointer, "host pointer in a kernel")                                       \
    mistake(kWrongDevice, "another device's pointer")                                       \
    mistake(kDevicePointer, "device pointer on the host")                                   \
    mistake(kUninitialised, "uninitialised read")                                           \
    mistake(kRace, "race")                      /* of two threads of a launch */            \
    mistake(kMissingSync, "missing synchronisation")  /* of two streams, or with the host */ \
    mistake(kBarrier, "barrier not reached by all")                                         \
    mistake(kWarpMask, "wrong warp mask")       /* omits a lane, or has an ended one */     \
    mistake(kMisaligned, "misaligned access")                                               \
    mistake(kSpin, "waits forever")             /* for a block that need not have begun */  \
    mistake(kRefused, "launch refused")                                                     \
    mistake(kRefusedCall, "call refused")       /* a copy, a fill or a free */              \
    mistake(kSameValue, "note: the same value from several threads")  /* without a barrier */ \
    mistake(kUnwrittenCopy, "note: copy of bytes that were never written")
#define MINI_ENUMERATOR(mistake, name) mistake,
enum class Mistake { MINI_MISTAKES(MINI_ENUMERATOR) };
#undef MINI_ENUMERATOR
// clang-format on

/// Returns whether this is worth a note, but no mistake: GPUs store the value, though CUDA does
/// not define the result of a race; and a program need not use all that it copies.
inline bool is_note(Mistake mistake) { return mistake >= Mistake::kSameValue; }

/// An instruction, its source line, and the kernel and thread that executed it. `kernel` is
/// "" for the host, and "a copy" or "a fill" for a copy or a fill.
struct Place {
    const void* address = nullptr;  // of the instruction; null: unknown
    std::string kernel = {};
    dim3 block{0, 0, 0}, thread{0, 0, 0};
    const void* launch = nullptr;  // the kernel's: if the other line is unknown
    std::string file = {};
    int line = 0;  // 0: unknown
};

struct Report {
    Mistake mistake = Mistake::kOutOfBounds;
    Place at;
    Place other;          // the other thread or operation, e.g. of a race; may be empty
    std::string message;  // what happened, and how to fix it
    size_t count = 1;     // number of occurrences at these lines
};

/// Collects mistakes by instruction address while kernels run, and turns them into reports by
/// source line. A mistake in a loop may occur a thousand times: it is stored once for each pair
/// of addresses, with a count.
class Findings {
  public:
    /// If this mistake is already known at these addresses, counts it and returns true.
    bool met(Mistake mistake, const void* at, const void* other);
    /// Adds a mistake, or counts it if it is known at these addresses.
    void add(Mistake mistake, Place at, Place other, std::string message);

    /// Returns one report for each kind of mistake and source line, in the order of the
    /// first occurrences, and clears the findings. Leaves out uninitialised reads and notes
    /// that a reported race explains.
    std::vector<Report> take();

  private:
    using Key = std::tuple<Mistake, const void*, const void*>;

    std::mutex mutex_;
    std::vector<Report> findings_;
    std::map<Key, size_t> known_;  // index into findings_
};

/// Returns "(x, y, z)".
std::string coordinates(dim3 at);

/// Returns "file:line", with a path relative to the working directory if the file is
/// below it; "unknown source line" if `line` is 0.
std::string describe_line(const std::string& file, int line);

/// Returns the text of a report, in several lines.
std::string describe(const Report& report);

}  // namespace mini::sim
