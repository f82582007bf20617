// The bookkeeping of the caching allocator: segments split into blocks. This file makes
// no CUDA calls, so that it can be tested alone.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

constexpr size_t kBlockBytes = 512;              // block sizes are multiples of this
constexpr size_t kSmallBytes = size_t{1} << 20;  // the largest block of a small segment
constexpr size_t kSmallSegment = size_t{2} << 20;
constexpr size_t kMediumBytes = size_t{10} << 20;  // smaller blocks use medium segments
constexpr size_t kMediumSegment = size_t{20} << 20;
constexpr size_t kLargeMultiple = size_t{2} << 20;  // rounding unit of large segments

/// Returns the size of a block for a request of `bytes`.
size_t block_bytes(size_t bytes);

/// Returns the size of the segment to allocate for a block of `block` bytes.
size_t segment_bytes(size_t block);

/// A request may only use blocks of its own device, stream and size class.
struct BlockClass {
    int device = 0;
    cudaStream_t stream = nullptr;
    bool small = false;

    auto operator<=>(const BlockClass&) const = default;
};

struct Block {
    std::byte* pointer = nullptr;
    size_t bytes = 0;
    BlockClass block_class;
    bool used = false;
    Block* left = nullptr;  // the adjacent blocks in the segment, or null
    Block* right = nullptr;
    std::vector<cudaStream_t> other_streams;  // recorded by record_stream
};

/// All blocks of all devices.
class Blocks {
  public:
    /// Takes the smallest free block of a class with at least `bytes`, splits off the
    /// rest, and returns the block; null if the class has no such block.
    Block* take(const BlockClass& block_class, size_t bytes);

    /// Adds a segment as one free block.
    void add_segment(const BlockClass& block_class, void* pointer, size_t bytes);

    /// Returns the block in use that contains an address; null if no block does.
    Block* find(const void* pointer);

    /// Frees a block and merges it with its free neighbours.
    void release(Block* block);

    /// Removes the segments of a device that are entirely free, and returns their
    /// addresses and sizes.
    std::vector<std::pair<void*, size_t>> remove_free_segments(int device);

  private:
    struct BySize {
        bool operator()(const Block* a, const Block* b) const {
            return std::tie(a->bytes, a->pointer) < std::tie(b->bytes, b->pointer);
        }
    };

    void split(Block* block, size_t bytes);
    Block* merge(Block* left, Block* right);

    std::map<const std::byte*, std::unique_ptr<Block>> blocks_;  // by address
    std::map<BlockClass, std::set<Block*, BySize>> free_;
};

}  // namespace mini::cuda
