// What an address of this program is: read from the program's own file, whose symbol table
// names functions and shared arrays, and whose line table names the lines of source.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::sim {

/// A `__shared__` array: a thread-local variable inside a function.
struct SharedArray {
    std::string name;      // as in the source
    std::string function;  // the short name of the function that declares it
    size_t offset = 0;     // from the beginning of a thread's variables
    size_t bytes = 0;
};

/// All shared arrays of the program, by offset.
const std::vector<SharedArray>& shared_arrays();

/// The calling thread's variables: where they begin, and how many bytes they are.
std::span<std::byte> thread_variables();

/// The function around an address: "" when the table does not say. `short_name` drops
/// namespaces, template arguments and parameters.
std::string function_at(const void* address);
std::string short_name(const std::string& function);

/// The name of a kernel, with its parameters, or its address where the program has no symbols.
std::string kernel_name(const void* kernel);

/// What of the program's own image an address is in.
enum class ImagePart { kNone, kConstant, kVariable };
ImagePart image_part(const void* address);

/// The short names of the functions whose code is at an address: the one that is inlined
/// deepest first. Starts addr2line for each address not asked before.
const std::vector<std::string>& inlined_at(const void* address);

struct Line {
    std::string file;
    int number = 0;  // 0: not known
};

/// The line of source that each address was compiled from. Of lines inlined into each other,
/// the innermost that is not the simulator's or the standard library's. Starts addr2line,
/// once for all that were not asked before.
std::vector<Line> lines_of(const std::vector<const void*>& addresses);

}  // namespace mini::sim
