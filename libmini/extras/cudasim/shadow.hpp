// Shadow memory: for each 4 bytes that kernels access, the last write, the reads since
// then, and which bytes were ever written.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace mini::sim {

/// One load or store by a thread of a block, or by lanes of a warp at the same clock, or
/// by a copy or a fill.
struct Access {
    uint32_t operation = 0;  // 0: no access
    uint32_t block = 0;
    uint32_t interval = 0;  // number of block barriers before the access
    uint32_t clock = 0;     // number of the lane's warp operations before it, plus 1
    uint16_t thread = 0;
    uint8_t bytes = 0;  // bit i: byte i of the four
    bool atomic = false;
    uint32_t lanes = 1;             // bit i: lane i of the warp made the same access
    const void* address = nullptr;  // of the instruction
};

/// The state of 4 bytes of memory.
struct Cell {
    Access write;
    std::array<Access, 4> reads;  // since the write, not ordered with each other
    uint8_t read_count = 0;
    uint8_t initialised = 0;  // bit i: byte i of the four
};

/// A cell for every 4 bytes of memory; pages of cells are created on first use.
class Shadow {
  public:
    Cell& at(uintptr_t address) {
        const uintptr_t number = address / kPageBytes;
        if (number != last_number_) {
            auto& page = pages_[number];
            if (page == nullptr) page = std::make_unique<Page>();
            last_ = page.get();
            last_number_ = number;
        }
        return (*last_)[address % kPageBytes / 4];
    }

    void clear() {
        pages_.clear();
        last_number_ = 0;
        last_ = nullptr;
    }

  private:
    static constexpr uintptr_t kPageBytes = 4096;
    using Page = std::array<Cell, kPageBytes / 4>;

    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    uintptr_t last_number_ = 0;
    Page* last_ = nullptr;
};

}  // namespace mini::sim
