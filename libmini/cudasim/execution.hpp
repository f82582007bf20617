// Which kernels, copies and fills have run, and what runs now: tells for each access
// which thread of which kernel made it, and what happened before it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/cudasim/block_order.hpp"
#include "libmini/cudasim/findings.hpp"
#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/observer.hpp"
#include "libmini/cudasim/order.hpp"
#include "libmini/cudasim/shadow.hpp"

namespace mini::sim {

/// The operations of all devices, of which one runs at a time.
class Execution {
  public:
    /// `call` is the address that submitted a copy or a fill; null for a kernel.
    void begin(const OperationInfo& info, const void* call);

    /// Returns the running operation, and its number in Access::operation.
    const OperationInfo& info() const { return info_; }
    uint32_t number() const { return number_; }

    /// Returns the short name of the running kernel, or "a copy", or "a fill".
    const std::string& name() const { return operations_[number_].name; }
    const std::string& name(const Access& access) const {
        return operations_[access.operation].name;
    }

    /// The blocks and barriers of the running kernel.
    BlockOrder& order() { return order_; }

    /// Returns an access of the running thread by the instruction at `address`.
    Access thread_access(Mode mode, const void* address) const;

    /// Returns an access of the running copy or fill.
    Access copy_access() const;

    /// Returns the running thread at the instruction `address`; the running copy or fill
    /// as the caller of the runtime function at `address`.
    Party current(const void* address) const;

    /// Returns who made an earlier access.
    Party party(const Access& access) const;

    /// Returns whether an earlier access happens before the running thread or operation.
    bool happens_before(const Access& earlier) const;

    /// Marks that the running operation ended at a mistake, as a GPU ends a kernel.
    void abandon() { is_abandoned_ = true; }
    bool is_abandoned() const { return is_abandoned_; }

  private:
    // Kept after its end because accesses in the shadow memory refer to it.
    struct Operation {
        std::string name;
        Stamp stamp;
        dim3 grid, block;
        bool is_kernel = false;
        const void* call = nullptr;  // the address that called the copy or fill
    };

    OperationInfo info_;
    uint32_t number_ = 0;
    std::vector<Operation> operations_{1};  // by Access::operation; [0] is unused
    BlockOrder order_;
    bool is_abandoned_ = false;
};

}  // namespace mini::sim
