// Records the kernels, copies and fills. Finds the thread and kernel that made an access,
// and whether an earlier access happened before the running thread's next access.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/block_order.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/order.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/shadow.hpp"

namespace mini::sim {

/// The operations of all devices; one runs at a time.
class Execution {
  public:
    /// Begins an operation.
    void begin(const Operation& operation);

    /// Returns the running operation.
    const Operation& operation() const { return *running_; }
    /// Returns the short name of the running kernel, or "a copy", or "a fill".
    const std::string& name() const { return records_[number_].name; }
    /// Returns the same for the operation that made an access.
    const std::string& name(const Access& access) const {
        return records_[access.operation].name;
    }

    /// Returns whether the running operation made an access.
    bool is_own(const Access& access) const { return access.operation == number_; }

    void begin_block(uint32_t block, unsigned threads);
    /// Returns the order of the accesses of the running kernel.
    BlockOrder& order() { return order_; }

    /// Returns an access of the running thread by the instruction at `address`. Two atomic
    /// accesses do not race.
    Accessor thread_access(bool atomic, const void* address);

    /// Returns an access of the running copy or fill.
    Accessor copy_access();

    /// Returns what the accesses of a warp have in common, by its number.
    const Access& access(uint32_t number) const { return accesses_[number]; }
    /// Returns the number of the next new access.
    uint32_t next_access() const { return static_cast<uint32_t>(accesses_.size()); }
    /// Returns the first number that an access of the running block can have.
    uint32_t first_of_block() const { return first_of_block_; }

    /// Forgets each access i for which numbers[i] is 0, and sets the other elements to the
    /// new numbers of their accesses. Called between two blocks.
    void forget_accesses(std::vector<uint32_t>& numbers);

    /// Returns the running thread, or the running copy or fill, as the place that
    /// executes the instruction or call at `address`.
    Place current(const void* address) const;

    /// Returns the thread (of the lowest lane), copy or fill that made an earlier access.
    Place party(const Access& access, uint32_t lanes) const;

    /// Returns those of an earlier access's lanes that do not happen before the next
    /// access of the running thread, copy or fill: 0 if the access happens before it.
    uint32_t unordered_lanes(const Access& earlier, uint32_t lanes) const;

    /// Records that a mistake has ended the running operation, as on a GPU.
    void abandon() { is_abandoned_ = true; }
    bool is_abandoned() const { return is_abandoned_; }

  private:
    // Kept after the operation's end, because accesses refer to it.
    struct Record {
        std::string name;
        Stamp stamp;
        dim3 grid, block;
        bool is_kernel = false;
        const void* call = nullptr;  // the call that submitted the copy or fill
    };

    const Operation* running_ = nullptr;
    uint32_t number_ = 0;
    std::vector<Record> records_{1};  // by Access::operation; [0] is unused
    BlockOrder order_;
    std::vector<Access> accesses_ = std::vector<Access>(1);  // by number; 0 means none
    std::array<uint32_t, 1024> recent_{};  // numbers, by the address of the instruction
    uint32_t first_of_block_ = 1;
    bool is_abandoned_ = false;
};

}  // namespace mini::sim
