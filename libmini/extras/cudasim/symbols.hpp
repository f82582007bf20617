// Symbols and source lines of this program's addresses, from the symbol table and the
// line table of its executable file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

/// A `__shared__` array: a thread-local variable inside a function.
struct SharedArray {
    std::string name;      // as in the source
    std::string function;  // the short name of the function that declares it
    std::string symbol;    // mangled
    size_t offset = 0;     // from the beginning of the thread-local variables
    size_t bytes = 0;
};

/// Returns all shared arrays of the program, sorted by offset.
const std::vector<SharedArray>& shared_arrays();

/// Returns the shared arrays that a kernel declares itself; those of the device functions
/// that it calls are not known.
std::vector<SharedArray> shared_arrays_of(const void* kernel);

/// Returns the memory of the calling thread's thread-local variables.
Region thread_variables();

/// Returns the demangled name of the function that contains an address, without unnamed
/// namespaces, or "at <address>" if unknown. The first call may give the name, as the source has
/// it, of a function whose symbol does not tell.
const std::string& function_at(const void* address, const char* name = nullptr);

/// Returns a function's name without namespaces, return type, template arguments and
/// parameters.
std::string short_name(const std::string& function);

/// A part of the program's own image: outside of the image, read-only or writable.
enum class ImagePart { kNone, kConstant, kVariable };
/// Returns the part that contains an address.
ImagePart image_part(const void* address);

/// Returns whether the code at an address is in the program, but not in the simulator, the
/// standard library or libmini's CUDA runtime.
bool in_program(const void* address);
/// Returns the innermost such address on the call stack, or null if unknown.
const void* calling_place();

struct Line {
    std::string file = {};
    int number = 0;  // 0: unknown
};

/// Returns the source lines of these addresses and of all that were looked up before; for
/// inlined code, the innermost line outside of the simulator and the standard library. Runs
/// addr2line once.
std::map<const void*, Line> lines_of(const std::vector<const void*>& addresses);

}  // namespace mini::sim
