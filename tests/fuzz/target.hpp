// A fuzz target: one reader of bytes that others wrote, which may be anything.
//
//     bytes --> target --> a result, or mini::Error      both are right
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

struct Target {
    /// What labs/lab fuzz calls it.
    const char* name;

    /// Reads the input.
    void (*run)(Input input);

    /// Inputs to begin with, written by libmini itself. The first one is read without error.
    std::vector<std::string> (*seeds)();

    /// Makes lengths and checksums right again that a mutation broke; null where there are none.
    void (*repair)(std::string& bytes) = nullptr;
};

/// The targets of each file.
std::span<const Target> file_targets();
std::span<const Target> picture_targets();
std::span<const Target> launch_targets();
std::span<const Target> store_targets();
std::span<const Target> mesh_targets();
std::span<const Target> channel_targets();
std::span<const Target> flight_targets();

/// All of them.
std::vector<Target> all_targets();

/// Runs a target; whether it read `input` without an Error. All other exceptions pass through.
bool accepts(const Target& target, Input input);

/// Throws std::logic_error, which is a fault, unless `condition` holds.
void require(bool condition, const char* what);

/// Calls `call`, in which an Error is a fault too.
void require_success(const std::function<void()>& call);

/// The bytes of a text, and back.
Input bytes_of(const std::string& text);
std::string text_of(Input input);
std::string text_of(const std::vector<uint8_t>& bytes);

}  // namespace mini::fuzz
