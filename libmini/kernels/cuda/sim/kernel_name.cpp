// The names of kernels, from the symbol table of the program itself: kernels are functions of
// an unnamed namespace, which the dynamic linker does not know.

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/sim/stuck.hpp"

namespace mini::sim {
namespace {

// A file in memory, for reading.
class MappedFile {
  public:
    explicit MappedFile(const char* path) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status = {};
        if (fstat(file, &status) == 0 && status.st_size > 0) {
            size_ = static_cast<size_t>(status.st_size);
            data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        }
        close(file);
    }
    ~MappedFile() {
        if (data_ != MAP_FAILED) munmap(data_, size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // `count` objects at an offset, or null where the file is too short.
    template <typename T>
    const T* at(size_t offset, size_t count = 1) const {
        if (data_ == MAP_FAILED || offset > size_ || count > (size_ - offset) / sizeof(T))
            return nullptr;
        return reinterpret_cast<const T*>(static_cast<const char*>(data_) + offset);
    }

  private:
    void* data_ = MAP_FAILED;
    size_t size_ = 0;
};

// Where the program was loaded; it is the first object that is listed.
uintptr_t load_address() {
    uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
            *static_cast<uintptr_t*>(out) = info->dlpi_addr;
            return 1;
        },
        &address);
    return address;
}

std::string demangled(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    std::string name = text ? text.get() : symbol;
    const std::string unnamed = "(anonymous namespace)::";
    for (size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
        name.erase(at, unnamed.size());
    return name;
}

// The functions of a file by address in the file.
std::map<uintptr_t, std::string> functions_of(const MappedFile& file) {
    std::map<uintptr_t, std::string> functions;
    const auto* header = file.at<Elf64_Ehdr>(0);
    if (header == nullptr) return functions;
    const auto* sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
        const Elf64_Shdr& table = sections[i];
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= header->e_shnum) continue;
        const Elf64_Shdr& names = sections[table.sh_link];
        const size_t count = table.sh_size / sizeof(Elf64_Sym);
        const auto* symbols = file.at<Elf64_Sym>(table.sh_offset, count);
        const auto* text = file.at<char>(names.sh_offset, names.sh_size);
        for (size_t k = 0; symbols != nullptr && text != nullptr && k < count; ++k)
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC &&
                symbols[k].st_name < names.sh_size)
                functions.try_emplace(symbols[k].st_value, text + symbols[k].st_name);
    }
    return functions;
}

}  // namespace

std::string kernel_name(const void* kernel) {
    static const auto* const functions =
        new std::map<uintptr_t, std::string>(functions_of(MappedFile("/proc/self/exe")));
    const auto address = reinterpret_cast<uintptr_t>(kernel);
    const auto found = functions->find(address - load_address());
    return found == functions->end() ? concat("at ", kernel)
                                     : demangled(found->second.c_str());
}

}  // namespace mini::sim
