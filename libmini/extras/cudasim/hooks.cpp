#include "libmini/extras/cudasim/hooks.hpp"

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/inspector.hpp"

namespace mini::sim {

std::atomic<bool> inspected{false};

namespace {

// Calls the inspector, and disables it meanwhile: a function that the inspector calls may
// be instrumented too, if the linker took a standard library function from a kernel's
// object file.
template <typename Body>
void inspect(const Body& body) {
    Inspector* const inspector = inspecting();
    if (inspector == nullptr) return;
    inspecting() = nullptr;
    const Inspector::Next next = body(*inspector);
    inspecting() = inspector;
    if (next == Inspector::Next::kAbandon) abandon_thread();
    if (next == Inspector::Next::kYield) yield_thread();
}

}  // namespace

namespace detail {

void tell_access(const MemoryAccess& access) {
    inspect([&](Inspector& i) { return i.access(access); });
}

void tell_fence(Scope scope) {
    inspect([&](Inspector& i) {
        i.fence(scope);
        return Inspector::Next::kContinue;
    });
}

void tell_exchange(unsigned mask, int from, const void* address) {
    inspect([&](Inspector& i) {
        i.exchange(mask, from, address);
        return Inspector::Next::kContinue;
    });
}

}  // namespace detail

void note_atomic(const void* pointer, size_t bytes) {
    if (inspected.load(std::memory_order_relaxed))
        detail::tell_access({pointer, bytes, bytes, Mode::kAtomic,
                             instruction_before(__builtin_return_address(0))});
}

void note_exchange(unsigned mask, int from) {
    if (inspected.load(std::memory_order_relaxed))
        detail::tell_exchange(mask, from,
                              instruction_before(__builtin_return_address(0)));
}

}  // namespace mini::sim
