#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
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

std::string read_program_path() {
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : "";
}

uintptr_t program_base() {
    static const uintptr_t base = [] {
        uintptr_t first = 0;
        dl_iterate_phdr(
            [](dl_phdr_info* info, size_t, void* out) {
                *static_cast<uintptr_t*>(out) = info->dlpi_addr;
                return 1;
            },
            &first);
        return first;
    }();
    return base;
}

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

// Returns the output of addr2line.
std::string addr2line(const std::string& options, const std::string& addresses) {
    // Never destroyed, as the tables below: the checker looks up lines at the exit of the
    // program, after its static objects.
    static const auto* const program = new std::string(read_program_path());
    return output_of(
        concat("addr2line ", options, " -e '", *program, "'", addresses, " 2>/dev/null"));
}

// Returns the address as a command-line argument, with a leading space.
std::string argument(const void* address) {
    std::ostringstream number;
    number << " 0x" << std::hex << reinterpret_cast<uintptr_t>(address) - program_base();
    return number.str();
}

// Parses "file:line", "file:line (discriminator 2)" or "??:?".
Line parse(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return {};
    Line line{text.substr(0, colon), 0};
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

// Parses addr2line's output: for each address a line "0x...", then its source lines, the
// innermost first.
void parse_output(const std::string& output, std::map<const void*, Line>& known) {
    std::istringstream lines(output);
    const void* address = nullptr;
    for (std::string text; std::getline(lines, text);) {
        uintptr_t offset = 0;
        if (text.rfind("0x", 0) == 0) {
            std::from_chars(text.data() + 2, text.data() + text.size(), offset, 16);
            address = reinterpret_cast<const void*>(program_base() + offset);
            continue;
        }
        const Line line = parse(text);
        Line& found = known[address];
        if (found.number == 0 && line.number > 0 && !of_the_simulator(line.file))
            found = line;
    }
}

}  // namespace

const std::vector<std::string>& inlined_at(const void* address) {
    static std::mutex mutex;
    static auto& known = *new std::map<const void*, std::vector<std::string>>;
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(address);
    if (!is_new) return found->second;

    // addr2line prints two lines for each function, its name and its source line; the
    // innermost function comes first.
    std::istringstream lines(addr2line("-f -i -C", argument(address)));
    for (std::string function, file;
         std::getline(lines, function) && std::getline(lines, file);)
        found->second.push_back(short_name(function));

    // addr2line gives an inlined function without a linkage name (of an anonymous
    // namespace) the name of the function that contains the code.
    auto& functions = found->second;
    if (functions.size() > 1 && functions.front() == functions.back())
        functions.front().clear();
    return functions;
}

std::vector<Line> lines_of(const std::vector<const void*>& addresses) {
    static std::mutex mutex;
    static auto& known = *new std::map<const void*, Line>;
    const std::lock_guard lock(mutex);

    // Look up the new addresses, kMaxAddresses at a time.
    std::string arguments;
    size_t pending = 0;
    const auto look_up = [&] {
        if (pending > 0) parse_output(addr2line("-a -i", arguments), known);
        arguments.clear();
        pending = 0;
    };
    for (const void* address : addresses) {
        if (!known.try_emplace(address).second) continue;
        arguments += argument(address);
        if (++pending == kMaxAddresses) look_up();
    }
    look_up();

    std::vector<Line> lines;
    for (const void* address : addresses) lines.push_back(known[address]);
    return lines;
}

}  // namespace mini::sim
