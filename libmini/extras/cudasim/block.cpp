#include "libmini/extras/cudasim/block.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <bitset>
#include <cstdlib>
#include <exception>
#include <ios>
#include <memory>
#include <mutex>
#include <span>
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
// `from` gave or, if `from` is -1, a mask of the lanes that gave another value than 0.
struct Lane {
    uint64_t given = 0;
    int from = -1;
    uint64_t received = 0;
};

// The coordinates of the thread that runs on this host thread.
constinit thread_local Coordinates* running_thread = nullptr;

constexpr size_t kMaxListed = 4;  // threads listed by index

// Returns "kernel f(float*), block (0, 1, 0): no thread can continue: 31 threads (0, 1, 2, 3,
// ...) at __syncthreads(), ...". `of_one` is from any thread of the block.
std::string stuck_message(const Launch& launch, const Coordinates& of_one,
                          std::span<const ThreadState> states) {
    using At = ThreadState::At;
    std::vector<std::string> parts;
    const auto add = [&](At at, const std::string& what) {
        std::vector<std::string> named;
        const auto count = std::ranges::count(states, at, &ThreadState::at);
        for (size_t i = 0; i < states.size() && named.size() < kMaxListed; ++i)
            if (states[i].at == at) named.push_back(std::to_string(i));
        if (count > static_cast<int64_t>(kMaxListed)) named.push_back("...");
        if (count > 0)
            parts.push_back(concat(count, count == 1 ? " thread (" : " threads (",
                                   mini::join(named), ") ", what));
    };
    add(At::kBlockBarrier, "at __syncthreads()");
    const auto waits = std::ranges::find(states, At::kWarpBarrier, &ThreadState::at);
    if (waits != states.end())
        add(At::kWarpBarrier,
            concat("in a warp operation, the first with mask 0x", std::hex, waits->mask));
    add(At::kExited, "exited");
    return concat("kernel ", kernel_name(launch.kernel), ", block ",
                  coordinates(of_one.block_index),
                  ": no thread can continue: ", mini::join(parts),
                  "; all threads that a barrier waits for must reach it");
}

// The fibers of one host thread, and the block that the fibers run. The fibers are reused
// for one block after another.
class Block {
  public:
    // Runs a block. Returns an error message, empty on success.
    std::string run(const Launch& launch, unsigned index);

    std::byte* shared() { return reinterpret_cast<std::byte*>(shared_.data()); }
    unsigned living_lanes() const { return ~exited_[current_ / kWarp]; }

    bool on_own_stack(const void* pointer) const {
        return fibers_[current_]->has_on_stack(pointer);
    }
    [[noreturn]] void abandon();
    void yield() { suspend(); }
    // Returns the number of threads of the barrier whose vote is true.
    unsigned block_barrier(const void* address, bool vote);
    uint64_t warp_operation(unsigned mask, Lane lane, const void* address);

  private:
    static void thread_main(void* self);
    void prepare(unsigned index);
    void exit_thread();
    void suspend();
    void release_block();
    bool try_release_warp(unsigned warp, unsigned mask);

    Fiber host_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Coordinates> coordinates_;
    std::vector<ThreadState> states_;
    std::vector<Lane> lanes_;
    std::vector<unsigned> waiting_, exited_;  // by warp; bit i is lane i
    std::vector<SharedLine> shared_;          // dynamic

    const Launch* launch_ = nullptr;
    std::string error_;
    std::bitset<kMaxThreads> ready_;  // threads that can run
    unsigned threads_ = 0, alive_ = 0, at_barrier_ = 0;
    unsigned votes_ = 0, last_votes_ = 0;  // for true at this barrier, at the last one
    unsigned current_ = 0;
    bool abandoned_ = false;  // some fibers are suspended inside a body
};

std::string Block::run(const Launch& launch, unsigned index) {
    launch_ = &launch;
    prepare(index);
    if (is_inspected()) tell::block_begins(launch, index);

    // Threads switch to each other, and back here when no thread is ready.
    current_ = 0;
    running_thread = &coordinates_[0];
    host_.switch_to(*fibers_[0]);

    if (alive_ > 0) {
        if (is_inspected()) tell::block_stuck(states_);
        error_ = stuck_message(*launch_, coordinates_[0], states_);
        abandoned_ = true;
    }
    if (std::exchange(abandoned_, false))
        for (auto& fiber : fibers_) fiber->restart();
    if (is_inspected()) tell::block_ends();
    launch_ = nullptr;
    return std::exchange(error_, {});
}

void Block::prepare(unsigned index) {
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
    for (unsigned i = 0; i < threads_; ++i) {
        coordinates_[i] = {unravel(i, launch_->block),
                           block_index,
                           launch_->block,
                           launch_->grid,
                           i,
                           index};
        ready_.set(i);
    }
    alive_ = threads_;
    at_barrier_ = votes_ = 0;
}

// The body of every fiber: runs one thread of each block, block after block.
void Block::thread_main(void* self) {
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

void Block::exit_thread() {
    const unsigned self = current_;
    const unsigned warp = self / kWarp;
    states_[self] = {ThreadState::At::kExited, nullptr, 0};
    ready_.reset(self);
    exited_[warp] |= 1u << self % kWarp;

    // Release the threads that waited only for this thread.
    if (--alive_ > 0 && at_barrier_ == alive_) release_block();
    for (unsigned left = waiting_[warp]; left != 0; left &= left - 1) {
        const auto each = static_cast<unsigned>(std::countr_zero(left)) + warp * kWarp;
        try_release_warp(warp, states_[each].mask);
    }
    suspend();
}

void Block::abandon() {
    abandoned_ = true;
    exit_thread();
    std::abort();  // not reached: the fiber is restarted
}

// Switches to the next ready thread, or back to the host if no thread is ready.
void Block::suspend() {
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

unsigned Block::block_barrier(const void* address, bool vote) {
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

void Block::release_block() {
    if (is_inspected()) tell::block_synchronized(states_);
    for (unsigned i = 0; i < threads_; ++i) {
        if (states_[i].at != ThreadState::At::kBlockBarrier) continue;
        states_[i] = {};
        ready_.set(i);
    }
    at_barrier_ = 0;
    last_votes_ = std::exchange(votes_, 0);
}

uint64_t Block::warp_operation(unsigned mask, Lane lane, const void* address) {
    const unsigned self = current_;
    const unsigned warp = self / kWarp;
    lanes_[self] = lane;
    states_[self] = {ThreadState::At::kWarpBarrier, address, mask};
    waiting_[warp] |= 1u << self % kWarp;
    ready_.reset(self);
    if (!try_release_warp(warp, mask)) suspend();
    return lanes_[self].received;
}

// Releases the lanes of `mask` and returns true if all of them that have not exited wait
// with this mask.
bool Block::try_release_warp(unsigned warp, unsigned mask) {
    const unsigned first = warp * kWarp;
    const unsigned group = mask & ~exited_[warp];
    if (group == 0 || (waiting_[warp] & group) != group) return false;
    unsigned votes = 0;
    for (unsigned left = group; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        if (states_[first + i].mask != mask) return false;
        if (lanes_[first + i].given != 0) votes |= 1u << i;
    }

    for (unsigned left = group; left != 0; left &= left - 1) {
        const unsigned i = first + static_cast<unsigned>(std::countr_zero(left));
        Lane& lane = lanes_[i];
        const unsigned exited = mask & ~group;
        if (is_inspected() && error_.empty() && lane.from >= 0 &&
            (exited >> lane.from & 1) != 0)
            tell::lane_exited(i, states_[i].address, lane.from);
        const bool present = lane.from >= 0 && (group >> lane.from & 1) != 0;
        lane.received = lane.from < 0 ? votes
                        : present ? lanes_[first + static_cast<unsigned>(lane.from)].given
                                  : ~uint64_t{0};
        states_[i] = {};
        ready_.set(i);
    }
    if (is_inspected()) tell::warp_synchronized(current_, mask);
    waiting_[warp] &= ~group;
    return true;
}

Block& block() {
    thread_local Block mine;
    return mine;
}

}  // namespace

Coordinates& running() { return *running_thread; }
unsigned coordinate(unsigned which, unsigned direction) noexcept {
    const dim3& of = (&running_thread->thread_index)[which];
    return direction == 0 ? of.x : direction == 1 ? of.y : of.z;
}
int lane() { return static_cast<int>(running().thread % kWarp); }
unsigned living_lanes() { return block().living_lanes(); }
std::byte* dynamic_shared() { return block().shared(); }

bool on_own_stack(const void* pointer) { return block().on_own_stack(pointer); }
void abandon_thread() { block().abandon(); }
void yield_thread() { block().yield(); }

int block_barrier(bool predicate) {
    return static_cast<int>(
        block().block_barrier(__builtin_return_address(0), predicate));
}

uint64_t exchange_bits(unsigned mask, uint64_t bits, int from) {
    return block().warp_operation(mask, {.given = bits, .from = from & 31},
                                  __builtin_return_address(0));
}

unsigned ballot(unsigned mask, bool predicate) {
    return static_cast<unsigned>(block().warp_operation(
        mask, {.given = predicate ? 1u : 0u}, __builtin_return_address(0)));
}

std::string run_grid(const Launch& launch) {
    const int64_t blocks =
        static_cast<int64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
    std::mutex mutex;
    std::string error;
    std::atomic<bool> failed = false;
    const std::vector<uint32_t> order =
        is_inspected() ? tell::block_order(static_cast<uint32_t>(blocks))
                       : std::vector<uint32_t>{};
    const auto run_blocks = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end && !failed; ++i) {
            const auto place = static_cast<unsigned>(i);
            std::string message =
                block().run(launch, order.empty() ? place : order[place]);
            if (message.empty()) continue;
            const std::lock_guard lock(mutex);
            if (!failed.exchange(true)) error = std::move(message);
        }
    };
    parallel_for(blocks, is_inspected() ? blocks : 1, run_blocks);
    return error;
}

}  // namespace mini::sim
