#include "libmini/kernels/cuda/sim/block.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <memory>
#include <vector>

#include "libmini/core/parallel.hpp"

namespace mini::sim {
namespace {

namespace context = boost::context;

constexpr size_t kStackBytes = 64 * 1024;

struct Block {
    std::vector<context::fiber> fibers;
    std::vector<Coordinates> at;
    std::vector<uint64_t> given;
    std::vector<std::byte> shared;
    context::fiber scheduler;
    unsigned current = 0;
};

thread_local Block* block = nullptr;
thread_local Coordinates coordinates;

void yield() {
    Block& mine = *block;
    const unsigned self = mine.current;
    mine.scheduler = std::move(mine.scheduler).resume();
    mine.current = self;
    coordinates = mine.at[self];
}

dim3 place(unsigned i, dim3 extent) {
    return {i % extent.x, i / extent.x % extent.y, i / (extent.x * extent.y)};
}

void run_block(const Launch& launch, unsigned index) {
    const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
    Block mine;
    mine.shared.resize(launch.shared_bytes);
    mine.given.resize(threads);
    block = &mine;
    for (unsigned i = 0; i < threads; ++i)
        mine.at.push_back({place(i, launch.block), place(index, launch.grid), launch.block,
                           launch.grid, i});
    for (unsigned i = 0; i < threads; ++i)
        mine.fibers.emplace_back(std::allocator_arg, context::fixedsize_stack(kStackBytes),
                                 [&mine, &launch, i](context::fiber&& scheduler) {
                                     mine.scheduler = std::move(scheduler);
                                     mine.current = i;
                                     coordinates = mine.at[i];
                                     launch.body();
                                     return std::move(mine.scheduler);
                                 });
    for (bool alive = true; alive;) {
        alive = false;
        for (context::fiber& fiber : mine.fibers)
            if (fiber) {
                fiber = std::move(fiber).resume();
                alive = alive || fiber;
            }
    }
    block = nullptr;
}

}  // namespace

Coordinates& running() { return coordinates; }
void block_barrier() { yield(); }
void warp_barrier(unsigned) { yield(); }

uint64_t exchange_bits(unsigned, uint64_t bits, int from) {
    block->given[coordinates.thread] = bits;
    yield();
    const uint64_t result = block->given[coordinates.thread / 32 * 32 + from];
    yield();
    return result;
}

unsigned ballot(unsigned mask, bool predicate) {
    block->given[coordinates.thread] = predicate;
    yield();
    unsigned votes = 0;
    const unsigned first = coordinates.thread / 32 * 32;
    for (unsigned i = 0; i < 32 && first + i < block->given.size(); ++i)
        if ((mask >> i & 1) != 0 && block->given[first + i] != 0) votes |= 1u << i;
    yield();
    return votes;
}

std::byte* dynamic_shared() { return block->shared.data(); }

void run_grid(const Launch& launch) {
    const int64_t blocks =
        static_cast<int64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) run_block(launch, static_cast<unsigned>(i));
    });
}

cudaError_t enqueue(Launch launch, cudaStream_t) {
    run_grid(launch);
    return cudaSuccess;
}

}  // namespace mini::sim
