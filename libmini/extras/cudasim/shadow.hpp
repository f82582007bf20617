// Shadow memory: for each 4 bytes that kernels access, the last write, the reads since
// then, and which bytes were ever written: 44 bytes, or 11 for each byte of memory.
//
// What the lanes of a warp have in common is kept once, as an Access; a word names it by
// its number.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace mini::sim {

/// One load or store by lanes of a warp at the same clock, or by a copy or a fill.
struct Access {
    uint32_t operation = 0;  // 0: no access
    uint32_t block = 0;
    uint32_t interval = 0;  // number of block barriers before the access
    uint32_t clock = 0;     // number of the lane's warp operations before it, plus 1
    uint16_t warp = 0;      // in the block
    bool atomic = false;
    const void* address = nullptr;  // of the instruction

    bool operator==(const Access&) const = default;
};

/// The lanes that made an access to a word. A copy or a fill is lane 0.
struct Accessor {
    uint32_t access : 28 = 0;  // number of the access (race_checker.hpp); 0: none
    uint32_t bytes : 4 = 0;    // bit i: byte i of the word
    uint32_t lanes = 0;        // bit i: lane i of the warp
};

/// The state of 4 bytes of memory.
struct Cell {
    Accessor write;
    std::array<Accessor, 4> reads;  // since the write, not ordered with each other
    uint8_t initialised = 0;        // bit i: byte i of the four
};

/// A cell for every 4 bytes of memory; pages of cells are created on first use.
class Shadow {
  public:
    Cell& at(uintptr_t address) {
        const uintptr_t number = address / kPageBytes;
        Recent& recent = recent_[number % recent_.size()];
        if (recent.number != number) {
            auto& page = pages_[number];
            if (page == nullptr) page = std::make_unique<Page>();
            recent = {number, page.get()};
        }
        return (*recent.page)[address % kPageBytes / 4];
    }

    /// Calls visit(accessor) for each accessor of each cell.
    template <typename Visit>
    void each_accessor(const Visit& visit) {
        for (auto& [number, page] : pages_)
            for (Cell& cell : *page) {
                visit(cell.write);
                for (Accessor& read : cell.reads) visit(read);
            }
    }

  private:
    static constexpr uintptr_t kPageBytes = 4096;
    using Page = std::array<Cell, kPageBytes / 4>;
    struct Recent {
        uintptr_t number = 0;  // no memory lies in page 0
        Page* page = nullptr;
    };

    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    std::array<Recent, 256> recent_;  // by number % 256
};

}  // namespace mini::sim
