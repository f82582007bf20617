#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/tools/mini/kernels.hpp"

namespace mini::tools {
namespace {

constexpr int kSquare = 6;            // pixels per side
constexpr int kLeft = 90, kTop = 50;  // margins
constexpr uintptr_t kSector = 32;     // bytes per row of the picture
constexpr uintptr_t kNear = 4096;     // a larger gap in bytes begins a new array

struct PictureRow {
    int y = 0;
    uintptr_t offset = 0;  // bytes from the first accessed sector of its array
};

// Returns a row for each accessed sector, by sector number (address / 32), with space
// between arrays.
std::map<uintptr_t, PictureRow> rows_of(const std::vector<sim::LoggedAccess>& accesses) {
    std::map<uintptr_t, PictureRow> rows;
    for (const sim::LoggedAccess& access : accesses) rows[access.address / kSector];
    uintptr_t array = 0, before = 0;
    int y = kTop;
    for (auto& [sector, row] : rows) {
        if (before == 0 || (sector - before) * kSector > kNear) {
            y += before == 0 ? 0 : 3 * kSquare;
            array = sector;
        }
        row = {y, (sector - array) * kSector};
        y += kSquare;
        before = sector;
    }
    return rows;
}

std::string label(int x, int y, const std::string& text) {
    return fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, y, text);
}

}  // namespace

std::string access_picture(const std::vector<sim::LoggedAccess>& accesses,
                           const std::string& title) {
    std::vector<sim::LoggedAccess> shown;
    uint32_t threads = 0;
    for (const sim::LoggedAccess& access : accesses) {
        if (access.shared || access.block != 0) continue;
        shown.push_back(access);
        threads = std::max(threads, access.thread + 1);
    }
    const auto rows = rows_of(shown);
    const int bottom = rows.empty() ? kTop : rows.rbegin()->second.y + kSquare;
    const int width = kLeft + static_cast<int>(threads) * kSquare + 20;

    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
        "font-family=\"sans-serif\" font-size=\"10\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        std::max(width, 420), bottom + 20);
    svg += label(
        8, 16,
        fmt::format("{}: threads of block 0 across, sectors of 32 bytes down", title));
    svg += label(8, 30, "blue: loads; red: stores; green: atomics");
    for (uint32_t thread = 0; thread < threads; thread += 32)
        svg += label(kLeft + static_cast<int>(thread) * kSquare, kTop - 6,
                     fmt::format("{}", thread));

    // Label the first sector of each array, and every eighth sector.
    for (const auto& [sector, row] : rows)
        if (row.offset / kSector % 8 == 0)
            svg += label(8, row.y + kSquare, fmt::format("byte {}", row.offset));
    for (const sim::LoggedAccess& access : shown) {
        const char* const colour = access.mode == sim::Mode::kRead    ? "#3366cc"
                                   : access.mode == sim::Mode::kWrite ? "#cc3333"
                                                                      : "#339944";
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
            kLeft + static_cast<int>(access.thread) * kSquare,
            rows.at(access.address / kSector).y, kSquare - 1, kSquare - 1, colour);
    }
    return svg + "</svg>\n";
}

}  // namespace mini::tools
