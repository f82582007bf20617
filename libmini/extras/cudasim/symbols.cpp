#include "libmini/extras/cudasim/symbols.hpp"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/erase.hpp>
#include <boost/core/demangle.hpp>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <ios>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/core/error.hpp"

extern "C" {
// Of the linker: the program's image, whose variables begin at __data_start.
extern const char __executable_start[], __data_start[], _end[];
// The references of program.hpp's MINI_PLACE, which kernels may read; null without any.
extern const char __start_mini_places[] __attribute__((weak));
extern const char __stop_mini_places[] __attribute__((weak));
}

namespace mini::sim {
namespace {

struct Function {
    uintptr_t begin = 0;
    size_t bytes = 0;
    std::string name;
};

// The loaded image of the program: the first object that the dynamic loader lists.
struct Image {
    uintptr_t base = 0;
    size_t thread_bytes = 0;
    std::vector<Function> functions;
    std::vector<SharedArray> arrays;
};

int read_headers(dl_phdr_info* info, size_t, void* out) {
    auto& image = *static_cast<Image*>(out);
    image.base = info->dlpi_addr;
    for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum))
        if (header.p_type == PT_TLS) image.thread_bytes = header.p_memsz;
    return 1;
}

// Returns a symbol's name in the source, without unnamed namespaces.
std::string demangled(const std::string& symbol) {
    return boost::erase_all_copy(boost::core::demangle(symbol.c_str()),
                                 "(anonymous namespace)::");
}

void add_symbol(Image& image, const Elf64_Sym& symbol, const char* name) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC && symbol.st_size > 0)
        image.functions.push_back({image.base + symbol.st_value, symbol.st_size, name});
    if (type != STT_TLS || symbol.st_size == 0) return;
    // A variable of a function (_ZZ <function> E <length> <name>) is a shared array.
    const std::string mangled = name, text = demangled(name);
    const size_t colons = text.rfind("::");
    const bool of_simulator = mangled.starts_with("_ZZN4mini3sim");
    if (mangled.starts_with("_ZZ") && colons != std::string::npos && !of_simulator)
        image.arrays.push_back({text.substr(colons + 2),
                                short_name(text.substr(0, colons)), mangled,
                                symbol.st_value, symbol.st_size});
}

void read_symbols(Image& image) {
    std::ifstream in("/proc/self/exe", std::ios::binary | std::ios::ate);
    std::string file(in ? static_cast<size_t>(in.tellg()) : 0, '\0');
    in.seekg(0);
    in.read(file.data(), static_cast<std::streamsize>(file.size()));
    if (file.empty()) return;
    // The tables of an ELF file are aligned.
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(file.data());
    const auto* const sections =
        reinterpret_cast<const Elf64_Shdr*>(file.data() + header.e_shoff);
    for (const Elf64_Shdr& section : std::span(sections, header.e_shnum)) {
        if (section.sh_type != SHT_SYMTAB) continue;
        const char* const names = file.data() + sections[section.sh_link].sh_offset;
        const auto* const symbols =
            reinterpret_cast<const Elf64_Sym*>(file.data() + section.sh_offset);
        for (const auto& each : std::span(symbols, section.sh_size / sizeof(Elf64_Sym)))
            add_symbol(image, each, names + each.st_name);
    }
}

const Image& image() {
    static const Image* const all = [] {
        auto* const made = new Image;
        dl_iterate_phdr(read_headers, made);
        read_symbols(*made);
        std::ranges::sort(made->functions, {}, &Function::begin);
        std::ranges::sort(made->arrays, {}, &SharedArray::offset);
        return made;
    }();
    return *all;
}

// Returns the function that contains an address, or null.
const Function* find_function(const void* address) {
    const auto& functions = image().functions;
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    auto after = std::ranges::upper_bound(functions, wanted, {}, &Function::begin);
    if (after == functions.begin()) return nullptr;
    --after;
    return wanted - after->begin <= after->bytes ? &*after : nullptr;
}

// Returns a function's name without return type, template arguments and parameters.
std::string plain_name(const std::string& function) {
    std::string name;
    int depth = 0;  // of the template arguments
    for (const char c : function) {
        if (c == '(' && depth == 0) break;
        if (c == '<' || c == '(')
            ++depth;
        else if (depth > 0)
            depth -= c == '>' || c == ')' ? 1 : 0;
        else if (c == ' ' && !name.ends_with("operator"))
            name.clear();  // the return type ends here
        else
            name += c;
    }
    return name.empty() ? function : name;
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
// prints the address, then a source line for each inlined function; the innermost comes first.
void look_up(const std::string& addresses) {
    const std::string command =
        concat("addr2line -a -i -e /proc/", getpid(), "/exe", addresses, " 2>/dev/null");
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (pipe == nullptr) return;
    std::array<char, 5000> part;  // a path has at most 4096 bytes
    Line* known = nullptr;
    while (fgets(part.data(), part.size(), pipe.get()) != nullptr) {
        const std::string text = part.data();
        uintptr_t offset = 0;
        if (text.starts_with("0x")) {
            std::from_chars(text.data() + 2, text.data() + text.size(), offset, 16);
            known = &table()[reinterpret_cast<const void*>(image().base + offset)];
            continue;
        }
        if (known == nullptr) return;
        const Line line = parse(text);
        if (known->number == 0 && line.number > 0 && !of_the_simulator(line.file))
            *known = line;
    }
}

}  // namespace

const std::vector<SharedArray>& shared_arrays() { return image().arrays; }

std::vector<SharedArray> shared_arrays_of(const void* kernel) {
    std::vector<SharedArray> arrays;
    const Function* const function = find_function(kernel);
    if (function == nullptr || function->name.rfind("_Z", 0) != 0) return arrays;
    const std::string prefix = concat("_ZZ", function->name.substr(2), "E");
    for (const SharedArray& array : shared_arrays())
        if (array.symbol.rfind(prefix, 0) == 0) arrays.push_back(array);
    return arrays;
}

Region thread_variables() {
    // The first object is the program; the loader gives the address of its thread-local
    // data.
    void* data = nullptr;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
            *static_cast<void**>(out) = info->dlpi_tls_data;
            return 1;
        },
        &data);
    return {static_cast<std::byte*>(data), data == nullptr ? 0 : image().thread_bytes};
}

// The names are kept by address: the checker looks them up at each access of some kinds.
const std::string& function_at(const void* address, const char* name) {
    static std::mutex mutex;
    static auto& known = *new std::unordered_map<const void*, std::string>;
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(address);
    if (!is_new) return found->second;
    const Function* const function = find_function(address);
    return found->second = name != nullptr       ? name
                           : function != nullptr ? demangled(function->name)
                                                 : concat("at ", address);
}

std::string short_name(const std::string& function) {
    const std::string name = plain_name(function);
    return name.substr(name.rfind(':') + 1);
}

ImagePart image_part(const void* address) {
    if (address >= __start_mini_places && address < __stop_mini_places)
        return ImagePart::kConstant;
    if (address < __executable_start || address >= _end) return ImagePart::kNone;
    return address < __data_start ? ImagePart::kConstant : ImagePart::kVariable;
}

bool in_program(const void* address) {
    if (image_part(address) == ImagePart::kNone) return false;
    const std::string name = plain_name(function_at(address));
    for (const char* const
             prefix :  // the last ones are of templates that do not demangle
         {"mini::sim::", "mini::cuda::", "cuda", "std::", "cub::", "thrust::", "_ZN4mini",
          "_ZN3cub", "_ZN6thrust"})
        if (name.starts_with(prefix)) return false;
    return true;
}

const void* calling_place() {
    std::array<void*, 24> frames;
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (void* const frame : std::span(frames).first(static_cast<size_t>(count)))
        if (in_program(static_cast<const char*>(frame) - 1))
            return static_cast<const char*>(frame) - 1;
    return nullptr;
}

std::map<const void*, Line> lines_of(const std::vector<const void*>& addresses) {
    const std::lock_guard lock(mutex);
    std::string arguments;
    for (const void* address : addresses)
        if (table().try_emplace(address).second)
            arguments += concat(" 0x", std::hex, uintptr_t(address) - image().base);
    if (!arguments.empty()) look_up(arguments);
    return table();
}

}  // namespace mini::sim
