#include "libmini/extras/cudasim/report.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::sim {
namespace {

std::string coordinates(dim3 at) {
    return concat("(", at.x, ", ", at.y, ", ", at.z, ")");
}

// Returns the path relative to the working directory if the file is below it.
std::string shortened(const std::string& file) {
    std::error_code unknown;
    const auto here = std::filesystem::current_path(unknown);
    const auto path =
        std::filesystem::path(file).lexically_normal().lexically_relative(here);
    return path.empty() || *path.begin() == ".." ? file : path.string();
}

std::string describe(const Place& place) {
    std::string text;
    if (!place.kernel.empty())
        text = concat(place.kernel, ", block ", coordinates(place.block), ", thread ",
                      coordinates(place.thread));
    if (place.line > 0 || text.empty())
        text += concat(text.empty() ? "" : ", ", describe_line(place.file, place.line));
    return text;
}

}  // namespace

std::string describe_line(const std::string& file, int line) {
    return line == 0 ? "unknown source line" : concat(shortened(file), ":", line);
}

const char* name(Mistake mistake) {
    static constexpr std::array kNames = {
        "out of bounds",
        "use after free",
        "host pointer in a kernel",
        "another device's pointer",
        "device pointer on the host",
        "uninitialised read",
        "race",
        "missing synchronisation",
        "barrier not reached by all",
        "wrong warp mask",
        "misaligned access",
        "waits for another block",
        "note: the same value from several threads",
    };
    return kNames[static_cast<size_t>(mistake)];
}

std::string describe(const Report& report) {
    std::string text =
        concat(name(report.mistake), ": ", describe(report.at), "\n    ", report.message);
    if (!report.other.kernel.empty() || report.other.line > 0)
        text += concat("\n    the other: ", describe(report.other));
    if (report.count > 1) text += concat("\n    and ", report.count - 1, " more like it");
    return text;
}

}  // namespace mini::sim
