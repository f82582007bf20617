// Fibers: functions with stacks of their own that pass one thread of the host to each
// other. The threads of the CUDA simulator are fibers, and so are the ranks of the simulated
// cluster.
//
// A switch saves a few registers and changes the stack pointer (Boost.Context): some
// nanoseconds, and no system call. A fiber is made once and then runs body after body, since
// making one costs more than a thousand switches.

#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace mini {

/// A function with a stack of its own.
class Fiber {
  public:
    /// What a fiber runs; `argument` is the one that the constructor got.
    using Body = void (*)(void* argument);

    /// The thread of the host itself, as something to switch back to.
    Fiber();

    /// Enough for the thread of a kernel.
    static constexpr size_t kSmallStack = 128 * 1024;

    /// A fiber that calls body(argument) at the first switch to it, and at the first switch
    /// after restart(). `body` must not return: its last statement switches to another fiber.
    /// Throws Error when there is no memory for the stack.
    Fiber(Body body, void* argument, size_t stack_bytes = kSmallStack);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Forgets where the fiber stands; the next switch to it calls its body. What is on its
    /// stack is not destroyed.
    void restart();

    /// Stops here and goes on where `next` stopped; returns when someone switches back.
    /// REQUIRES: this is the fiber that runs, and `next` belongs to the same thread.
    void switch_to(Fiber& next);

    /// Whether this is an address of its stack.
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
    void* fake_stack_ = nullptr;       // the address sanitizer's
    void* sanitizer_fiber_ = nullptr;  // the thread sanitizer's
};

}  // namespace mini
