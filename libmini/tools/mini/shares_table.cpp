#include "libmini/tools/mini/shares_table.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include "libmini/core/text.hpp"

namespace mini::tools {
namespace {

constexpr const char* kBold = "\033[1m";
constexpr const char* kDim = "\033[2m";
constexpr const char* kPadding = "\033[7m";  // reverse video, to stand out
constexpr const char* kReset = "\033[0m";
constexpr std::array kOwnerColours = {"\033[36m", "\033[33m", "\033[35m",
                                      "\033[32m", "\033[34m", "\033[31m"};

class Table {
  public:
    Table(const Shares& shares, const TableOptions& options)
        : shares_(shares), options_(options) {
        owner_width_ = std::string("position").size();
        int64_t largest = 0;
        for (const Share& share : shares.shares) {
            owner_width_ = std::max(owner_width_, share.owner.size());
            positions_ = std::max(positions_, std::ssize(share.indices));
            for (const int64_t index : share.indices) largest = std::max(largest, index);
        }
        const int64_t widest = std::max(largest, positions_);
        cell_width_ = fmt::formatted_size("{}", widest) + 2;  // a space before, * after
        const auto room =
            static_cast<int64_t>(options.width) - static_cast<int64_t>(owner_width_) - 1;
        columns_ = std::max<int64_t>(1, room / static_cast<int64_t>(cell_width_));
        if (columns_ >= 10) columns_ -= columns_ % 10;  // start lines at multiples of 10
    }

    std::string text() {
        text_ = fmt::format("{}\n", painted(kBold, shares_.title));
        const int64_t shown = std::min(positions_, columns_ * options_.max_blocks);
        for (int64_t begin = 0; begin < shown; begin += columns_)
            block(begin, std::min(shown, begin + columns_));
        remarks(shown);
        return text_;
    }

  private:
    std::string painted(const char* colour, const std::string& text) const {
        return options_.colour ? fmt::format("{}{}{}", colour, text, kReset) : text;
    }

    void block(int64_t begin, int64_t end) {
        // Number the positions.
        std::string head = fmt::format("{:<{}} ", "position", owner_width_);
        for (int64_t i = begin; i < end; ++i)
            head += fmt::format("{:>{}} ", i, cell_width_ - 1);
        text_ += fmt::format("\n{}\n", painted(kDim, head));

        // Print one row per owner, up to its number of samples.
        for (size_t k = 0; k < shares_.shares.size(); ++k) {
            const Share& share = shares_.shares[k];
            const char* colour = kOwnerColours[k % kOwnerColours.size()];
            text_ += painted(colour, fmt::format("{:<{}} ", share.owner, owner_width_));
            const int64_t last = std::min(end, std::ssize(share.indices));
            for (int64_t i = begin; i < last; ++i) text_ += cell(share, i, colour);
            text_ += "\n";
        }
    }

    std::string cell(const Share& share, int64_t i, const char* colour) {
        const int64_t index = share.indices[static_cast<size_t>(i)];
        const std::string digits = fmt::format("{:>{}}", index, cell_width_ - 1);
        if (i < share.padding_from) return fmt::format("{} ", painted(colour, digits));
        padded_ = true;
        return painted(kPadding, fmt::format("{}*", digits));
    }

    void remarks(int64_t shown) {
        if (positions_ > shown)
            text_ += fmt::format(
                "\n... and {} more positions; --format json prints all of them\n",
                with_commas(positions_ - shown));
        if (padded_)
            text_ += "\n* padding: samples that another position of this epoch has too\n";
        if (!shares_.remark.empty()) text_ += fmt::format("\n{}\n", shares_.remark);
    }

    const Shares& shares_;
    const TableOptions& options_;
    size_t owner_width_ = 0;
    size_t cell_width_ = 0;
    int64_t positions_ = 0;  // size of the longest share
    int64_t columns_ = 0;    // positions per block
    bool padded_ = false;
    std::string text_;
};

}  // namespace

std::string shares_table(const Shares& shares, const TableOptions& options) {
    return Table(shares, options).text();
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
