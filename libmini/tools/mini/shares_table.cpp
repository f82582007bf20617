#include "libmini/tools/mini/shares_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libmini/core/text.hpp"
#include "libmini/program/table.hpp"

namespace mini::tools {
namespace {

constexpr int64_t kColumns = 80;     // of the screen
constexpr int64_t kMostBlocks = 12;  // of lines; later positions are only counted

// Returns the positions begin to end of all owners.
std::string block(const Shares& shares, int64_t begin, int64_t end) {
    std::vector<std::vector<std::string>> rows{{"position"}};
    for (int64_t i = begin; i < end; ++i) rows[0].push_back(fmt::format("{} ", i));
    for (const Share& share : shares.shares) {
        rows.push_back({share.owner});
        for (int64_t i = begin; i < std::min(end, std::ssize(share.indices)); ++i)
            rows.back().push_back(fmt::format("{}{}",
                                              share.indices[static_cast<size_t>(i)],
                                              i < share.padding_from ? ' ' : '*'));
    }
    return "\n" + aligned(rows, 1, 1);
}

}  // namespace

std::string shares_table(const Shares& shares) {
    int64_t positions = 0, largest = 0;
    size_t owner = std::string("position").size();
    bool is_padded = false;
    for (const Share& share : shares.shares) {
        owner = std::max(owner, share.owner.size());
        positions = std::max(positions, std::ssize(share.indices));
        is_padded |= std::ssize(share.indices) > share.padding_from;
        for (const int64_t index : share.indices) largest = std::max(largest, index);
    }
    // A cell has a space before its digits and a space or a star behind them.
    const auto cell =
        static_cast<int64_t>(fmt::formatted_size("{}", std::max(largest, positions)) + 2);
    int64_t columns =
        std::max<int64_t>(1, (kColumns - static_cast<int64_t>(owner)) / cell);
    if (columns >= 10) columns -= columns % 10;  // begin lines at multiples of 10

    const int64_t shown = std::min(positions, columns * kMostBlocks);
    std::string text = shares.title + "\n";
    for (int64_t begin = 0; begin < shown; begin += columns)
        text += block(shares, begin, std::min(shown, begin + columns));
    if (positions > shown)
        text +=
            fmt::format("\n... and {} more positions; --format json prints all of them\n",
                        with_commas(positions - shown));
    if (is_padded)
        text += "\n* padding: samples that another position of this epoch has too\n";
    if (!shares.remark.empty()) text += fmt::format("\n{}\n", shares.remark);
    return text;
}

std::string shares_json(const Shares& shares) {
    nlohmann::json json = nlohmann::json::array();
    if (shares.one_list) {
        json = shares.shares.front().indices;
    } else {
        for (const Share& share : shares.shares) json.push_back(share.indices);
    }
    return json.dump() + "\n";
}

}  // namespace mini::tools
