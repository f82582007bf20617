#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ios>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr size_t kMaxAddresses = 200;  // on one command line

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string all;
    std::array<char, 4096> part;
    while (pipe != nullptr) {
        const size_t count = fread(part.data(), 1, part.size(), pipe.get());
        if (count == 0) break;
        all.append(part.data(), count);
    }
    return all;
}

// Returns the address as a command-line argument, with a leading space.
std::string argument(const void* address) {
    return concat(" 0x", std::hex, reinterpret_cast<uintptr_t>(address) - program_base());
}

// Parses "file:line", "file:line (discriminator 2)" or "??:?".
Line parse(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return {};
    Line line{text.substr(0, colon)};
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), line.number);
    return line;
}

// Returns whether a file is part of the simulator or a system header, so that its lines
// are not the user's.
bool of_the_simulator(const std::string& file) {
    return file.find("libmini/extras/cudasim/") != std::string::npos ||
           file.find("libmini/kernels/cuda/launch.") != std::string::npos ||
           file.rfind("/usr/", 0) == 0;
}

// The lines that are known, by address. Never destroyed: the checker looks up lines at the exit
// of the program, after its static objects.
std::map<const void*, Line>& table() {
    static auto& all = *new std::map<const void*, Line>;
    return all;
}
std::mutex mutex;  // guards the table

// Adds the lines of addresses, which are arguments, to the table. For each address, addr2line
// prints the address, then a name and a source line for each inlined function; the innermost
// comes first.
void look_up(const std::string& addresses) {
    const std::string output = output_of(concat(
        "addr2line -a -f -i -C -e /proc/", getpid(), "/exe", addresses, " 2>/dev/null"));
    std::istringstream lines(output);
    Line* known = nullptr;
    for (std::string text, file; std::getline(lines, text);) {
        uintptr_t offset = 0;
        if (text.starts_with("0x")) {
            std::from_chars(text.data() + 2, text.data() + text.size(), offset, 16);
            known = &table()[reinterpret_cast<const void*>(program_base() + offset)];
            continue;
        }
        if (known == nullptr || !std::getline(lines, file)) return;
        known->functions.push_back(short_name(text));
        Line line = parse(file);
        if (known->number > 0 || line.number == 0 || of_the_simulator(line.file))
            continue;
        known->file = line.file;
        known->number = line.number;
    }
}

}  // namespace

bool may_be_of(const void* address, const std::string& function) {
    const auto functions = lines_of({address}).at(address).functions;
    // addr2line gives an inlined function without a linkage name (of an anonymous namespace)
    // the name of the function that contains the code.
    const bool unnamed = functions.size() > 1 && functions.front() == functions.back();
    return unnamed || std::ranges::find(functions, function) != functions.end();
}

std::map<const void*, Line> lines_of(const std::vector<const void*>& addresses) {
    const std::lock_guard lock(mutex);
    std::string arguments;
    size_t pending = 0;
    for (const void* address : addresses) {
        if (!table().try_emplace(address).second) continue;
        arguments += argument(address);
        if (++pending % kMaxAddresses > 0) continue;
        look_up(arguments);
        arguments.clear();
    }
    if (!arguments.empty()) look_up(arguments);
    return table();
}

}  // namespace mini::sim
