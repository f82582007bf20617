#include "libmini/extras/report/append_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::report {

AppendFile::AppendFile(const std::string& path) : path_(path) {
    std::error_code ignored;  // the file cannot be opened, either
    const auto status = std::filesystem::status(path, ignored);
    if (exists(status) && !is_regular_file(status))
        throw BadFile(path, ": not a regular file");
    file_.rdbuf()->pubsetbuf(nullptr, 0);  // without a buffer
    file_.open(path, std::ios::binary | std::ios::app);
    if (!file_) throw BadFile(path, ": cannot open: ", std::strerror(errno));
}

void AppendFile::append(std::string_view record) {
    if (!file_.write(record.data(), static_cast<std::streamsize>(record.size())))
        throw BadFile(path_, ": cannot write: ", std::strerror(errno));
}

void AppendFile::end_line() {
    std::ifstream file(path_, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() == std::streampos(0)) return;
    file.seekg(-1, std::ios::end);
    if (file.get() != '\n') append("\n");
}

}  // namespace mini::report
