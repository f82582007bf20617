#include "libmini/extras/cudasim/inspector.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

const auto kPageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));

std::atomic<HostGuard*> guard{nullptr};
struct sigaction previous_action = {};

void set_protection(const void* begin, size_t bytes, int protection) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPageBytes * kPageBytes;
    const uintptr_t last = reinterpret_cast<uintptr_t>(begin) + bytes;
    mprotect(reinterpret_cast<void*>(first), last - first, protection);
}

void on_fault(int signal, siginfo_t* info, [[maybe_unused]] void* context) {
    const void* address = nullptr;
#if defined(__x86_64__)
    address = reinterpret_cast<const void*>(
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    address =
        reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#endif
    HostGuard* const mine = guard;
    if (mine != nullptr && mine->handle(info->si_addr, address)) return;

    // Not a fault of the guard: use the previous handler.
    if ((previous_action.sa_flags & SA_SIGINFO) != 0)
        previous_action.sa_sigaction(signal, info, context);
    else
        sigaction(signal, &previous_action, nullptr);
}

// Installs the handler. Repeated after each operation, because a test framework installs
// its own handler when a test starts.
void take_signal() {
    struct sigaction now = {};
    sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return;
    previous_action = now;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

HostGuard::HostGuard(Findings* findings) : findings_(findings) {
    calling_place();  // loads a library now, which a signal handler must not do
    guard = this;
    take_signal();
}

HostGuard::~HostGuard() {
    protect_all(true);
    sigaction(SIGSEGV, &previous_action, nullptr);
    guard = nullptr;
}

// Sets the protection of all allocations, and of pinned memory in use.
void HostGuard::protect_all(bool open) {
    for (const auto& [device, used] : used_)
        set_protection(used.first, static_cast<size_t>(used.second - used.first),
                       open ? PROT_READ | PROT_WRITE : PROT_NONE);
    for (const Pending& pending : pending_) protect(pending, open);
}

void HostGuard::protect(const Pending& pending, bool open) {
    set_protection(pending.begin, pending.bytes,
                   open              ? PROT_READ | PROT_WRITE
                   : pending.written ? PROT_NONE
                                     : PROT_READ);
}

void HostGuard::allocated_or_freed(const Allocation& allocation) {
    const std::lock_guard lock(mutex_);
    if (allocation.device == kPinned || allocation.freed) return;
    auto& [begin, end] =
        used_.try_emplace(allocation.device, allocation.begin, nullptr).first->second;
    begin = std::min(begin, allocation.begin);
    end = std::max(end, allocation.begin + allocation.bytes);
    set_protection(allocation.begin, allocation.bytes,
                   running_ == 0 ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void HostGuard::given(const Operation& operation) {
    const std::lock_guard lock(mutex_);
    const auto add = [&](const void* pointer, bool written) {
        if (pointer == nullptr || device_of(pointer) != kPinned) return;
        pending_.push_back({static_cast<std::byte*>(const_cast<void*>(pointer)),
                            operation.bytes, written, operation.stamp, operation.call});
        if (running_ == 0) protect(pending_.back(), false);
    };
    add(operation.from, false);
    add(operation.to, true);
}

void HostGuard::begins() {
    const std::lock_guard lock(mutex_);
    if (running_++ == 0) protect_all(true);
}

void HostGuard::ends() {
    const std::lock_guard lock(mutex_);
    if (--running_ > 0) return;
    take_signal();
    protect_all(false);
}

void HostGuard::waited(const Clock& clock) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pending_, [&](const Pending& pending) {
        if (!precedes(pending.stamp, clock)) return false;
        protect(pending, true);
        return true;
    });
    if (running_ == 0)
        for (const Pending& pending : pending_) protect(pending, false);
}

bool HostGuard::handle(const void* pointer, const void* address) {
    const int device = device_of(pointer);
    if (device == kPageable) return false;
    const std::lock_guard lock(mutex_);

    // Report the faulting instruction, or the call of the library function that contains
    // the instruction.
    const void* place = address;
    if (!in_program(address)) place = calling_place();
    const Place host{place};

    if (device != kPinned) {
        if (!used_.contains(device) || find_allocation(pointer).id == 0) return false;
        set_protection(pointer, 1, PROT_READ | PROT_WRITE);
        findings_->add(Mistake::kDevicePointer, host, {},
                       concat("the host accesses memory of device ", device,
                              ": copy it to the host first"));
        return true;
    }
    bool ours = false;
    for (const Pending& pending : pending_) {
        const auto* const byte = static_cast<const std::byte*>(pointer);
        const std::byte* const page =
            pending.begin - reinterpret_cast<uintptr_t>(pending.begin) % kPageBytes;
        if (byte < page || byte >= pending.begin + pending.bytes) continue;
        ours = true;
        protect(pending, true);
        if (byte < pending.begin) continue;
        const auto [does, copy_does] = pending.written ? std::pair("accesses", "write")
                                                       : std::pair("writes", "read");
        findings_->add(Mistake::kMissingSync, host, {pending.call, "a copy"},
                       concat("the host ", does, " pinned memory that a copy has yet to ",
                              copy_does, ": synchronise the stream, or an event, first"));
    }
    return ours;
}

}  // namespace mini::sim
