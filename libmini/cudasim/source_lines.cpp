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
#include "libmini/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr size_t kMostAtOnce = 200;  // addresses on one command line

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

// What addr2line says with these options to these arguments.
std::string addr2line(const std::string& options, const std::string& addresses) {
    static const std::string program = read_program_path();
    return output_of(
        concat("addr2line ", options, " -e '", program, "'", addresses, " 2>/dev/null"));
}

// As an argument, with a blank before it.
std::string argument(const void* address) {
    std::ostringstream number;
    number << " 0x" << std::hex << reinterpret_cast<uintptr_t>(address) - program_base();
    return number.str();
}

// "file:line", "file:line (discriminator 2)", "??:?"
Line parse(const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return {};
    Line line{text.substr(0, colon), 0};
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), line.number);
    return line;
}

// Words of the language that are functions here: not what a reader of the kernel wrote.
bool of_the_simulator(const std::string& file) {
    return file.find("libmini/cudasim/") != std::string::npos ||
           file.find("libmini/kernels/cuda/launch.") != std::string::npos ||
           file.rfind("/usr/", 0) == 0;
}

// For each address a line "0x...", then the lines of source from the innermost outwards.
void parse_answer(const std::string& answer, std::map<const void*, Line>& known) {
    std::istringstream lines(answer);
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
    static std::map<const void*, std::vector<std::string>> known;
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(address);
    if (!is_new) return found->second;

    // A line with a function, a line with its file, and so on outwards.
    std::istringstream lines(addr2line("-f -i -C", argument(address)));
    for (std::string function, file;
         std::getline(lines, function) && std::getline(lines, file);)
        found->second.push_back(short_name(function));
    return found->second;
}

std::vector<Line> lines_of(const std::vector<const void*>& addresses) {
    static std::mutex mutex;
    static std::map<const void*, Line> known;
    const std::lock_guard lock(mutex);

    // Ask for those that are new, some hundred a time.
    std::string arguments;
    size_t asked = 0;
    const auto ask = [&] {
        if (asked > 0) parse_answer(addr2line("-a -i", arguments), known);
        arguments.clear();
        asked = 0;
    };
    for (const void* address : addresses) {
        if (!known.try_emplace(address).second) continue;
        arguments += argument(address);
        if (++asked == kMostAtOnce) ask();
    }
    ask();

    std::vector<Line> lines;
    for (const void* address : addresses) lines.push_back(known[address]);
    return lines;
}

}  // namespace mini::sim
