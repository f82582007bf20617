// Fibers: functions with their own stacks that take turns on one host thread. The threads
// of the CUDA simulator are fibers, and so are the ranks of the simulated cluster.
//
// A switch saves a few registers and changes the stack pointer (Boost.Context), which
// takes some nanoseconds and no system call. Fibers are reused for many bodies, because
// the creation of a fiber costs more than a thousand switches.

#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace mini {

/// A function with a stack of its own.
class Fiber {
  public:
    /// The function that a fiber runs. `argument` is the constructor's argument.
    using Body = void (*)(void* argument);

    /// Represents the calling host thread's own stack, so that fibers can switch back to
    /// it.
    Fiber();

    /// A stack size in bytes that is enough for a thread of a kernel.
    static constexpr size_t kSmallStack = 128 * 1024;

    /// Creates a fiber. The first switch to it, and the first after each restart(), calls
    /// body(argument). `body` must not return: at its end it must switch to another
    /// fiber. Throws Error when there is no memory for the stack.
    Fiber(Body body, void* argument, size_t stack_bytes = kSmallStack);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Resets the fiber: the next switch to it calls its body from the start. Objects on
    /// its stack are not destroyed.
    void restart();

    /// Suspends this fiber and resumes `next`; returns when a fiber switches back to this
    /// one. REQUIRES: this is the running fiber, and `next` belongs to the same host
    /// thread.
    void switch_to(Fiber& next);

    /// Returns whether `pointer` is an address in the fiber's stack.
    bool has_on_stack(const void* pointer) const {
        const auto* const byte = static_cast<const std::byte*>(pointer);
        return byte >= stack_ && byte < stack_ + stack_bytes_;
    }

  private:
    static void enter(boost::context::detail::transfer_t from);
    static void arrive(boost::context::detail::transfer_t from);

    boost::context::detail::fcontext_t context_ = nullptr;
    Body body_ = nullptr;
    void* argument_ = nullptr;
    std::byte* stack_ = nullptr;  // lowest address
    size_t stack_bytes_ = 0;
    bool owns_stack_ = false;
    void* fake_stack_ = nullptr;       // set by the address sanitizer
    void* sanitizer_fiber_ = nullptr;  // the thread sanitizer's handle of this fiber
};

}  // namespace mini
