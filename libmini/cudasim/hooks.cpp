#include "libmini/cudasim/hooks.hpp"

#include "libmini/cudasim/block.hpp"
#include "libmini/cudasim/inspector.hpp"

namespace mini::sim {

std::atomic<bool> inspected{false};

namespace {

const char* instruction_before(void* return_address) {
    return static_cast<const char*>(__builtin_extract_return_addr(return_address)) - 1;
}

// Calls the inspector, and disables it meanwhile: a function that the inspector calls may
// be instrumented too, if the linker took a standard library function from a kernel's
// object file.
template <typename Body>
void inspect(const Body& body) {
    Inspector* const inspector = inspecting();
    if (inspector == nullptr) return;
    inspecting() = nullptr;
    const bool may_continue = body(*inspector);
    inspecting() = inspector;
    if (!may_continue) abandon_thread();
}

}  // namespace

namespace detail {

void tell_access(const void* pointer, size_t bytes, Mode mode, const void* address) {
    inspect([&](Inspector& i) { return i.access(pointer, bytes, mode, address); });
}

void tell_fence() {
    inspect([](Inspector& i) {
        i.fence();
        return true;
    });
}

void tell_exchange(unsigned mask, int from, const void* address) {
    inspect([&](Inspector& i) {
        i.exchange(mask, from, address);
        return true;
    });
}

}  // namespace detail

void note_atomic(const void* pointer, size_t bytes) {
    if (inspected.load(std::memory_order_relaxed))
        detail::tell_access(pointer, bytes, Mode::kAtomic,
                            instruction_before(__builtin_return_address(0)));
}

void note_exchange(unsigned mask, int from) {
    if (inspected.load(std::memory_order_relaxed))
        detail::tell_exchange(mask, from,
                              instruction_before(__builtin_return_address(0)));
}

}  // namespace mini::sim
