// A fuzz target: a function that reads arbitrary bytes.
//
//     bytes --> target --> a result, or mini::Error      correct
//                      --> anything else                 a fault
//
// libFuzzer finds the bytes (main.cpp), and ctest replays the seeds (seeds_test.cpp).

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mini::fuzz {

using Input = std::span<const std::byte>;
using Seeds = std::vector<std::string>;

struct Target {
    /// The name of the target for mini_fuzz.
    const char* name;

    /// Reads the input.
    void (*run)(Input input);

    /// The initial inputs, written by libmini itself. `run` reads the first seed without
    /// error.
    Seeds seeds;

    /// Corrects the lengths and checksums that a mutation broke; null if most mutations
    /// need no correction.
    void (*repair)(std::string& bytes) = nullptr;
};

/// Return the targets of one source file each: files.cpp, pictures.cpp, ...
std::vector<Target> file_targets();
std::vector<Target> picture_targets();
std::vector<Target> launch_targets();
std::vector<Target> store_targets();
std::vector<Target> mesh_targets();
std::vector<Target> channel_targets();
std::vector<Target> flight_targets();

/// Returns all targets.
std::vector<Target> all_targets();

/// Runs a target. Returns true if the target reads `input`, or false if it throws an
/// Error; other exceptions propagate.
bool accepts(const Target& target, Input input);

/// Throws std::logic_error, which is a fault, unless `condition` holds.
void require(bool condition, const char* what);

/// Runs `call`. Throws std::logic_error, which is a fault, if `call` throws an Error.
void require_success(const std::function<void()>& call);

/// Converts a text to bytes.
Input bytes_of(const std::string& text);

/// Converts bytes to a text.
std::string text_of(Input input);
std::string text_of(const std::vector<uint8_t>& bytes);

/// Returns the bytes of an object as a text.
template <typename Object>
std::string text_of_object(const Object& object) {
    return text_of(std::as_bytes(std::span(&object, 1)));
}

}  // namespace mini::fuzz
