// mini_fuzz: libFuzzer around one target.
//
//     mini_fuzz --target=idx CORPUS [libFuzzer's options]     look for faults
//     mini_fuzz --target=idx FILE                             run one input
//     mini_fuzz --write-seeds=FOLDER                          FOLDER/TARGET/seed-0, ...
//
// --write-seeds also prints the names of all targets. README.md has the usual commands.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libmini/core/log.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using mini::fuzz::Target;

Target chosen;

void write_seeds(const std::filesystem::path& folder) {
    for (const Target& target : mini::fuzz::all_targets()) {
        std::filesystem::create_directories(folder / target.name);
        int number = 0;
        for (const std::string& seed : target.seeds)
            std::ofstream(folder / target.name / ("seed-" + std::to_string(number++)),
                          std::ios::binary)
                << seed;
        std::puts(target.name);
    }
}

bool choose(std::string_view name) {
    for (const Target& target : mini::fuzz::all_targets())
        if (target.name == name) chosen = target;
    return chosen.run != nullptr;
}

// Returns the value of the argument "--name=value"; `name` is "--name=".
std::optional<std::string> option(std::span<char*> arguments, std::string_view name) {
    for (const std::string_view argument : arguments)
        if (argument.starts_with(name)) return std::string(argument.substr(name.size()));
    return std::nullopt;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
    const std::span<char*> words(*arguments, static_cast<size_t>(*count));
    if (const auto folder = option(words, "--write-seeds=")) {
        write_seeds(*folder);
        std::exit(0);
    }
    if (!choose(option(words, "--target=").value_or(""))) {
        std::fputs("mini_fuzz: --target=NAME expected; --write-seeds=DIR names them\n",
                   stderr);
        std::exit(2);
    }
    mini::logging::set_level(mini::logging::Level::kError);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    mini::fuzz::accepts(chosen, std::as_bytes(std::span(data, size)));
    return 0;
}

// Repairs most mutations, so that they pass the checksums.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    constexpr unsigned kUnrepaired = 4;  // one mutation in four is not repaired
    const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
    if (chosen.repair == nullptr || seed % kUnrepaired == 0) return mutated;
    std::string bytes(reinterpret_cast<const char*>(data), mutated);
    chosen.repair(bytes);
    if (bytes.size() > max_size) return mutated;
    std::copy(bytes.begin(), bytes.end(), data);
    return bytes.size();
}
