#include "libmini/core/temporary_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"

namespace mini {
namespace {

// Returns whether this process can write a new file in the folder: permissions do not
// tell this of /proc, or of a full disk.
bool can_write(const std::filesystem::path& folder) {
    std::string file = folder / "mini-XXXXXX";
    const Descriptor descriptor(::mkstemp(file.data()));
    if (!descriptor.is_open()) return false;
    const bool is_written = ::write(descriptor.fd(), "x", 1) == 1;
    return ::unlink(file.c_str()) == 0 && is_written;
}

}  // namespace

std::string temporary_folder() {
    std::vector<std::string> candidates;
    for (const char* name : {"TMPDIR", "TEMP", "TMP"})
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
            candidates.emplace_back(value);
    candidates.insert(candidates.end(), {"/tmp", "/var/tmp", "/usr/tmp", "."});
    for (const std::string& candidate : candidates) {
        std::error_code failure;
        const auto path = std::filesystem::absolute(candidate, failure);
        if (!failure && can_write(path)) return path.string();
    }
    throw Error("no folder for temporary files: cannot create a file in ",
                candidates.front(),
                ", /tmp, /var/tmp, /usr/tmp or here; set "
                "TMPDIR to a folder that can be written");
}

std::string new_private_folder(const std::string& name) {
    std::string path = concat(temporary_folder(), "/", name, "-XXXXXX");
    MINI_CHECK(::mkdtemp(path.data()) != nullptr, "cannot create ", path, ": ",
               system_message("mkdtemp", errno), "; set TMPDIR to another folder");
    return path;
}

}  // namespace mini
