#include "libmini/extras/cudasim/block.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <bitset>
#include <cstdlib>
#include <deque>
#include <exception>
#include <ios>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/symbols.hpp"
#include "libmini/extras/fibers/fiber.hpp"

namespace mini::sim {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kWarp = 32;
// Dynamic shared memory, whose alignment is that of a GPU.
struct alignas(128) SharedLine {
    std::byte bytes[128];
};

// A lane's arguments to a warp operation, and the operation's result: the value that lane
// `from` gave or, in a vote, a mask of the lanes that gave another value than 0.
struct Lane {
    uint64_t given = 0;
    int from = 0;  // or kVote or kBarrier
    uint64_t received = 0;
};

// The coordinates of the thread that runs on this host thread.
constinit thread_local Coordinates* running_thread = nullptr;

// The block that runs on this host thread.
constinit thread_local class Block* running_block = nullptr;

// Returns "kernel f(float*), block (0, 1, 0): no thread can continue: 31 threads, the first is
// thread 0, at __syncthreads(), ...". `of_one` is from any thread of the block.
std::string stuck_message(const Launch& launch, const Coordinates& of_one,
                          std::span<const ThreadState> states) {
    using At = ThreadState::At;
    std::vector<std::string> parts;
    const auto add = [&](At at, const char* what) {
        const auto first = std::ranges::find(states, at, &ThreadState::at);
        if (first == states.end()) return;
        parts.push_back(concat(std::ranges::count(states, at, &ThreadState::at),
                               " threads, the first is thread ", first - states.begin(),
                               ", ", what));
        if (at == At::kWarpBarrier) parts.back() += concat(std::hex, first->mask);
    };
    add(At::kBlockBarrier, "at __syncthreads()");
    add(At::kGridBarrier, launch.cooperative
                              ? "at grid.sync()"
                              : "at grid.sync(), which needs a cooperative launch");
    add(At::kWarpBarrier, "in a warp operation, the first with mask 0x");
    add(At::kExited, "exited");
    return concat("kernel ", function_at(launch.kernel), ", block ",
                  coordinates(of_one.block_index),
                  ": no thread can continue: ", mini::join(parts),
                  "; all threads that a barrier waits for must reach it");
}

// The fibers of one host thread, and the block that the fibers run. The fibers are reused
// for one block after another.
class Block {
  public:
    // Runs a block until it has ended, or all its threads are at grid.sync(). Returns an error
    // message, empty on success.
    std::string run(const Launch& launch, unsigned index) {
        launch_ = &launch;
        running_block = this;
        const bool continues = std::exchange(paused_, false);
        if (continues) {
            exchange_arrays();
            release(ThreadState::At::kGridBarrier);
        } else {
            prepare(index);
        }
        if (is_inspected()) tell::block_begins(launch, index, continues);

        // Threads switch to each other, and back here when no thread is ready.
        current_ = static_cast<unsigned>(ready_._Find_first());
        running_thread = &coordinates_[current_];
        host_.switch_to(*fibers_[current_]);
        running_thread = nullptr;

        const auto waiting =
            std::ranges::count(states_, ThreadState::At::kGridBarrier, &ThreadState::at);
        paused_ = alive_ > 0 && launch.cooperative && waiting == alive_;
        if (paused_) exchange_arrays();
        return stop();
    }

    bool is_paused() const { return paused_; }
    // Ends a paused block: others that it waits for have ended.
    std::string give_up() {
        paused_ = false;
        return stop();
    }

    std::byte* shared() { return reinterpret_cast<std::byte*>(shared_.data()); }

    bool on_own_stack(const void* pointer) const {
        return fibers_[current_]->has_on_stack(pointer);
    }
    [[noreturn]] void abandon() {
        abandoned_ = true;
        exit_thread();
        std::abort();  // not reached: the fiber is restarted
    }

    // Switches to the next ready thread, or back to the host if no thread is ready.
    void suspend() {
        const unsigned self = current_;
        size_t next = ready_._Find_next(self);
        if (next == kMaxThreads) next = ready_._Find_first();
        Fiber& fiber = *fibers_[self];
        if (next == kMaxThreads) {
            fiber.switch_to(host_);
        } else if (next != self) {
            current_ = static_cast<unsigned>(next);
            running_thread = &coordinates_[next];
            fiber.switch_to(*fibers_[next]);
        }
    }

    // A lane that calls this lets the others run; the first that continues is the one that counts.
    unsigned active_lanes(const void* address) {
        const unsigned self = current_, first = self / kWarp * kWarp;
        states_[self].address = address;
        suspend();
        const ThreadState waits = {ThreadState::At::kRunning, address, 0};
        unsigned mask = 0;
        for (unsigned i = first; states_[self] == waits && i < first + kWarp; ++i)
            if (i < threads_ && states_[i] == waits) mask |= 1u << i % kWarp;
        for (unsigned left = mask; left != 0; left &= left - 1)
            states_[first + static_cast<unsigned>(std::countr_zero(left))].mask = mask;
        return std::exchange(states_[self], {}).mask;
    }

    // Returns the number of threads of the barrier whose vote is true.
    unsigned block_barrier(const void* address, bool vote) {
        const unsigned self = current_;
        states_[self] = {ThreadState::At::kBlockBarrier, address, 0};
        votes_ += vote ? 1 : 0;
        if (++at_barrier_ == alive_) {
            release_block();
        } else {
            ready_.reset(self);
            suspend();
        }
        return last_votes_;  // unchanged until this thread is at the next barrier
    }

    void grid_barrier(const void* address) {
        states_[current_] = {ThreadState::At::kGridBarrier, address, 0};
        ready_.reset(current_);
        suspend();
    }

    uint64_t warp_operation(unsigned mask, Lane lane, const void* address) {
        if (is_inspected()) tell::warp_operation(mask, lane.from, address);
        const unsigned self = current_;
        const unsigned warp = self / kWarp;
        lanes_[self] = lane;
        states_[self] = {ThreadState::At::kWarpBarrier, address, mask};
        waiting_[warp] |= 1u << self % kWarp;
        ready_.reset(self);
        if (!try_release_warp(warp, mask)) suspend();
        return lanes_[self].received;
    }

  private:
    // The body of every fiber: runs one thread of each block, block after block.
    static void thread_main(void* self) {
        auto& block = *static_cast<Block*>(self);
        while (true) {
            try {
                block.launch_->body();
            } catch (const std::exception& error) {
                block.error_ = concat("a kernel threw: ", error.what());
            }
            block.exit_thread();
        }
    }

    void prepare(unsigned index) {
        threads_ = threads_of(*launch_);
        while (fibers_.size() < threads_)
            fibers_.push_back(std::make_unique<Fiber>(&Block::thread_main, this));
        const size_t lines =
            (launch_->shared_bytes + sizeof(SharedLine) - 1) / sizeof(SharedLine);
        if (shared_.size() < lines) shared_.resize(lines);

        const unsigned warps = (threads_ + kWarp - 1) / kWarp;
        const dim3 block_index = unravel(index, launch_->grid);
        coordinates_.resize(threads_);
        lanes_.resize(threads_);
        states_.assign(threads_, {});
        waiting_.assign(warps, 0);
        exited_.assign(warps, 0);
        if (threads_ % kWarp != 0) exited_[warps - 1] = ~0u << threads_ % kWarp;
        const auto& [grid, block] = std::tie(launch_->grid, launch_->block);
        for (unsigned i = 0; i < threads_; ++i) {
            coordinates_[i] = {unravel(i, block), block_index, block, grid, i, index};
            ready_.set(i);
        }
        alive_ = threads_;
        at_barrier_ = votes_ = 0;
    }

    void exit_thread() {
        const unsigned self = current_;
        const unsigned warp = self / kWarp;
        states_[self] = {ThreadState::At::kExited, nullptr, 0};
        ready_.reset(self);
        exited_[warp] |= 1u << self % kWarp;

        // Release the threads that waited only for this thread.
        if (--alive_ > 0 && at_barrier_ == alive_) release_block();
        for (unsigned left = waiting_[warp]; left != 0; left &= left - 1) {
            const auto each =
                static_cast<unsigned>(std::countr_zero(left)) + warp * kWarp;
            try_release_warp(warp, states_[each].mask);
        }
        suspend();
    }

    void release(ThreadState::At at) {
        for (unsigned i = 0; i < threads_; ++i) {
            if (states_[i].at != at) continue;
            states_[i] = {};
            ready_.set(i);
        }
    }

    void release_block() {
        if (is_inspected()) tell::block_synchronized(states_);
        release(ThreadState::At::kBlockBarrier);
        at_barrier_ = 0;
        last_votes_ = std::exchange(votes_, 0);
    }

    // Exchanges the __shared__ arrays of this host thread, which all its blocks use, with those of
    // this block.
    void exchange_arrays() {
        std::byte* const begin = thread_variables().base;
        size_t at = 0;
        for (const SharedArray& each : shared_arrays()) {
            arrays_.resize(std::max(arrays_.size(), at + each.bytes));
            std::swap_ranges(begin + each.offset, begin + each.offset + each.bytes,
                             arrays_.data() + at);
            at += each.bytes;
        }
    }

    // Returns to the host. If the block can neither continue nor is paused, it fails.
    std::string stop() {
        if (alive_ > 0 && !paused_) {
            if (is_inspected()) tell::block_stuck(states_);
            error_ = stuck_message(*launch_, coordinates_[0], states_);
            abandoned_ = true;
        }
        if (!paused_ && std::exchange(abandoned_, false))
            for (auto& fiber : fibers_) fiber->restart();
        if (is_inspected()) tell::block_ends();
        return std::exchange(error_, {});
    }

    // Releases the lanes of `mask` and returns true if all of them that have not exited wait
    // with this mask.
    bool try_release_warp(unsigned warp, unsigned mask) {
        const unsigned first = warp * kWarp;
        const unsigned group = mask & ~exited_[warp];
        if (group == 0 || (waiting_[warp] & group) != group) return false;
        const auto lowest = first + static_cast<unsigned>(std::countr_zero(group));
        unsigned votes = 0, other = lowest;
        for (unsigned left = group; left != 0; left &= left - 1) {
            const auto i = static_cast<unsigned>(std::countr_zero(left));
            if (states_[first + i].mask != mask) return false;
            if (lanes_[first + i].given != 0) votes |= 1u << i;
            if (std::min(lanes_[first + i].from, 0) != std::min(lanes_[lowest].from, 0))
                other = first + i;
        }
        if (is_inspected() && other != lowest) tell::lanes_differ(states_, lowest, other);

        for (unsigned left = group; left != 0; left &= left - 1) {
            const unsigned i = first + static_cast<unsigned>(std::countr_zero(left));
            Lane& lane = lanes_[i];
            const unsigned exited = mask & ~group;
            if (is_inspected() && error_.empty() && lane.from >= 0 &&
                (exited >> lane.from & 1) != 0)
                tell::lane_exited(i, states_[i].address, lane.from);
            const bool present = lane.from >= 0 && (group >> lane.from & 1) != 0;
            lane.received = lane.from < 0 ? votes
                            : present
                                ? lanes_[first + static_cast<unsigned>(lane.from)].given
                                : ~uint64_t{0};
            states_[i] = {};
            ready_.set(i);
        }
        if (is_inspected()) tell::warp_synchronized(current_, mask);
        waiting_[warp] &= ~group;
        return true;
    }

    Fiber host_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Coordinates> coordinates_;
    std::vector<ThreadState> states_;
    std::vector<Lane> lanes_;
    std::vector<unsigned> waiting_, exited_;  // by warp; bit i is lane i
    std::vector<SharedLine> shared_;          // dynamic
    std::vector<std::byte> arrays_;           // of a paused block

    const Launch* launch_ = nullptr;
    std::string error_;
    std::bitset<kMaxThreads> ready_;  // threads that can run
    unsigned threads_ = 0, alive_ = 0, at_barrier_ = 0;
    unsigned votes_ = 0, last_votes_ = 0;  // for true at this barrier, at the last one
    unsigned current_ = 0;
    bool abandoned_ = false;  // some fibers are suspended inside a body
    bool paused_ = false;
};

Block& block() { return *running_block; }

// Returns a block of this host thread. They are kept: fibers take long to make. Those of the
// main thread are never destroyed, because kernels may run when the program exits.
Block& block_at(size_t i) {
    constinit static thread_local std::deque<Block>* blocks = nullptr;
    struct Owner {
        ~Owner() {
            if (gettid() != getpid()) delete blocks;
        }
    };
    thread_local const Owner owner;
    if (blocks == nullptr) blocks = new std::deque<Block>;
    while (blocks->size() <= i) blocks->emplace_back();
    return (*blocks)[i];
}

// Runs blocks that may wait for each other: each until its end or the next grid.sync(), in turn.
std::string run_together(const Launch& launch, const std::vector<uint32_t>& order) {
    std::string error;
    size_t waiting = 0;
    do {
        waiting = 0;
        for (size_t i = 0; i < order.size() && error.empty(); ++i) {
            error = block_at(i).run(launch, order[i]);
            waiting += block_at(i).is_paused() ? 1 : 0;
        }
        if (is_inspected()) tell::grid_synchronized();
    } while (error.empty() && waiting == order.size());

    // Blocks that wait for a block that has ended.
    for (size_t i = 0; i < order.size(); ++i) {
        if (!block_at(i).is_paused()) continue;
        if (is_inspected()) tell::block_begins(launch, order[i], true);
        const std::string message = block_at(i).give_up();
        if (error.empty()) error = message;
    }
    return error;
}

}  // namespace

bool in_kernel() { return running_thread != nullptr; }
Coordinates& running() {
    if (running_thread != nullptr) return *running_thread;
    throw Error(function_at(calling_place()), " needs <<<blocks, threads>>>");
}
unsigned coordinate(unsigned which, unsigned direction) noexcept {
    const dim3& of = (&running().thread_index)[which];
    return direction == 0 ? of.x : direction == 1 ? of.y : of.z;
}
int lane() { return static_cast<int>(running().thread % kWarp); }
unsigned active_lanes() { return block().active_lanes(MINI_CALL); }
std::byte* dynamic_shared() { return block().shared(); }

bool on_own_stack(const void* pointer) { return block().on_own_stack(pointer); }
void abandon_thread() { block().abandon(); }
void yield_thread() { block().suspend(); }

int block_barrier(bool predicate) {
    return static_cast<int>(block().block_barrier(MINI_CALL, predicate));
}

void grid_barrier() { block().grid_barrier(MINI_CALL); }

uint64_t exchange_bits(unsigned mask, uint64_t bits, int from) {
    return block().warp_operation(mask, {.given = bits, .from = from & 31}, MINI_CALL);
}

unsigned ballot(unsigned mask, bool predicate, int kind) {
    return static_cast<unsigned>(block().warp_operation(
        mask, {.given = predicate ? 1u : 0u, .from = kind}, MINI_CALL));
}

std::string run_grid(const Launch& launch) {
    const auto blocks = static_cast<int64_t>(count(launch.grid));
    std::mutex mutex;
    std::string error;
    std::atomic<bool> failed = false;
    const std::vector<uint32_t> order = order_of_blocks(
        static_cast<uint32_t>(blocks), is_inspected() ? tell::seed_of_blocks() : 0);
    if (launch.cooperative) return run_together(launch, order);
    const auto run_blocks = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end && !failed; ++i) {
            std::string message = block_at(0).run(launch, order[static_cast<size_t>(i)]);
            if (message.empty()) continue;
            const std::lock_guard lock(mutex);
            if (!failed.exchange(true)) error = std::move(message);
        }
    };
    parallel_for(blocks, is_inspected() ? blocks : 1, run_blocks);
    return error;
}

}  // namespace mini::sim
