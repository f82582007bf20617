#include "libmini/extras/fibers/fiber.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/extras/fibers/fiber_sanitizers.hpp"

namespace mini {
namespace {

namespace context = boost::context::detail;

// Returns the size of the page below a stack, which is protected, so that an overflow
// faults. It is 4 KiB on x86-64; on aarch64 up to 64 KiB, depending on the kernel.
size_t guard_bytes() {
    static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace

Fiber::Fiber() : sanitizer_fiber_(sanitizers::this_fiber()) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    pthread_attr_getstack(&attributes, &lowest, &stack_bytes_);
    pthread_attr_destroy(&attributes);
    stack_ = static_cast<std::byte*>(lowest);
}

Fiber::Fiber(Body body, void* argument, size_t stack_bytes)
    : body_(body), argument_(argument), stack_bytes_(stack_bytes), owns_stack_(true) {
    void* const lowest = mmap(nullptr, guard_bytes() + stack_bytes_, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MINI_CHECK(lowest != MAP_FAILED, "fiber: no stack: ", system_message("mmap", errno));
    stack_ = static_cast<std::byte*>(lowest) + guard_bytes();
    if (mprotect(stack_, stack_bytes_, PROT_READ | PROT_WRITE) != 0) {
        const int error = errno;
        munmap(lowest, guard_bytes() + stack_bytes_);
        throw Error("fiber: no stack: ", system_message("mprotect", error),
                    "; raise vm.max_map_count");
    }
    sanitizer_fiber_ = sanitizers::make_fiber();
    restart();
}

Fiber::~Fiber() {
    if (!owns_stack_) return;
    sanitizers::clear_stack(stack_, stack_bytes_);
    sanitizers::destroy_fiber(sanitizer_fiber_);
    munmap(stack_ - guard_bytes(), guard_bytes() + stack_bytes_);
}

void Fiber::restart() {
    sanitizers::clear_stack(stack_, stack_bytes_);
    fake_stack_ = nullptr;
    // Stacks begin at different cache lines: else all would share a few lines of the cache.
    const size_t unused = reinterpret_cast<uintptr_t>(stack_) / guard_bytes() % 32 * 64;
    const size_t bytes = stack_bytes_ - unused;
    context_ = context::make_fcontext(stack_ + bytes, bytes, &Fiber::enter);
}

void Fiber::switch_to(Fiber& next) {
    // Passed by jump_fcontext to the resumed fiber: [0] is suspended, [1] is resumed.
    Fiber* both[2] = {this, &next};
    sanitizers::leave_stack(&fake_stack_, next.stack_, next.stack_bytes_);
    sanitizers::switch_fiber(next.sanitizer_fiber_);
    arrive(context::jump_fcontext(next.context_, static_cast<void*>(both)));
}

void Fiber::arrive(context::transfer_t from) {
    Fiber* const* const both = static_cast<Fiber**>(from.data);
    Fiber* const stopped = both[0];
    Fiber* const self = both[1];
    stopped->context_ = from.fctx;
    sanitizers::reach_stack(self->fake_stack_);
}

void Fiber::enter(context::transfer_t from) {
    Fiber* const self = static_cast<Fiber**>(from.data)[1];
    arrive(from);
    self->body_(self->argument_);
}

}  // namespace mini
