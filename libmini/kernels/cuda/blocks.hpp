// The bookkeeping of the caching allocator: segments cut into blocks. It calls no device, so
// that what it decides can be tested by itself.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

constexpr size_t kBlockBytes = 512;  // every size is a multiple
constexpr size_t kSmallBytes = size_t{1}
                               << 20;  // up to here, blocks share small segments
constexpr size_t kSmallSegment = size_t{2} << 20;
constexpr size_t kMediumBytes = size_t{10} << 20;  // below this, larger ones
constexpr size_t kMediumSegment = size_t{20} << 20;
constexpr size_t kLargeMultiple = size_t{2} << 20;  // of the other segments' sizes

/// The size of the block that holds `bytes`, and of the segment that is made for such a block.
size_t block_bytes(size_t bytes);
size_t segment_bytes(size_t block);

/// Whose blocks a request may have: those of its device, stream, graph pool and size class.
struct BlockClass {
    int device = 0;
    cudaStream_t stream = nullptr;
    uint64_t pool = 0;  // of a graph; 0 is everyone's
    bool small = false;

    auto operator<=>(const BlockClass&) const = default;
};

struct Block {
    std::byte* pointer = nullptr;
    size_t bytes = 0;
    BlockClass of;
    bool used = false;
    Block* left = nullptr;  // neighbours in the segment
    Block* right = nullptr;
    std::vector<cudaStream_t> other_streams;  // that use it (record_stream)
    bool ends_with_pool = false;  // freed, but not before its pool is dissolved
};

/// All blocks of all devices.
class Blocks {
  public:
    /// Takes the smallest free block of a class that holds `bytes`, and cuts off what is left
    /// over; null when there is none.
    Block* take(const BlockClass& of, size_t bytes);

    /// Enters a segment as one free block.
    void add_segment(const BlockClass& of, void* pointer, size_t bytes);

    /// The block in use at an address, or the one that holds it; null when there is none.
    Block* find(const void* pointer);

    /// Frees a block; it becomes one with its free neighbours.
    void release(Block* block);

    /// Takes out the segments of a device that are free as a whole, and returns them.
    std::vector<std::pair<void*, size_t>> remove_free_segments(int device);

    /// Makes a pool's blocks everyone's, and frees those that end with it.
    void dissolve(uint64_t pool);

  private:
    struct BySize {
        bool operator()(const Block* a, const Block* b) const {
            return std::tie(a->bytes, a->pointer) < std::tie(b->bytes, b->pointer);
        }
    };

    void cut(Block* block, size_t bytes);
    Block* unite(Block* left, Block* right);

    std::map<const std::byte*, std::unique_ptr<Block>> blocks_;  // by address
    std::map<BlockClass, std::set<Block*, BySize>> free_;
};

}  // namespace mini::cuda
