#include "libmini/extras/cudasim/report.hpp"

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
    switch (mistake) {
        case Mistake::kOutOfBounds: return "out of bounds";
        case Mistake::kUseAfterFree: return "use after free";
        case Mistake::kHostPointer: return "host pointer in a kernel";
        case Mistake::kWrongDevice: return "another device's pointer";
        case Mistake::kDevicePointer: return "device pointer on the host";
        case Mistake::kUninitialised: return "uninitialised read";
        case Mistake::kRace: return "race";
        case Mistake::kMissingSync: return "missing synchronisation";
        case Mistake::kBarrier: return "barrier not reached by all";
        case Mistake::kWarpMask: return "wrong warp mask";
        case Mistake::kMisaligned: return "misaligned access";
        case Mistake::kSpin: return "waits for another block";
        case Mistake::kSameValue: return "note: the same value from several threads";
    }
    return "mistake";
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
