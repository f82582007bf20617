#include "libmini/kernels/cuda/blocks.hpp"

#include <utility>

namespace mini::cuda {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A small block is split if at least 512 bytes remain, a large block if more than 1 MiB
// remains.
bool worth_splitting(const Block& block, size_t bytes) {
    const size_t rest = block.bytes - bytes;
    return block.block_class.small ? rest >= kBlockBytes : rest > kSmallBytes;
}

}  // namespace

size_t block_bytes(size_t bytes) { return round_up(bytes, kBlockBytes); }

size_t segment_bytes(size_t block) {
    if (block <= kSmallBytes) return kSmallSegment;
    if (block < kMediumBytes) return kMediumSegment;
    return round_up(block, kLargeMultiple);
}

Block* Blocks::take(const BlockClass& block_class, size_t bytes) {
    const auto candidates = free_.find(block_class);
    if (candidates == free_.end()) return nullptr;
    Block least;
    least.bytes = bytes;
    const auto fit = candidates->second.lower_bound(&least);
    if (fit == candidates->second.end()) return nullptr;
    Block* const block = *fit;
    candidates->second.erase(fit);
    if (worth_splitting(*block, bytes)) split(block, bytes);
    block->used = true;
    return block;
}

void Blocks::add_segment(const BlockClass& block_class, void* pointer, size_t bytes) {
    auto block = std::make_unique<Block>();
    block->pointer = static_cast<std::byte*>(pointer);
    block->bytes = bytes;
    block->block_class = block_class;
    free_[block_class].insert(block.get());
    blocks_[block->pointer] = std::move(block);
}

// Keeps `bytes` in the block and makes the rest a free block.
void Blocks::split(Block* block, size_t bytes) {
    auto rest = std::make_unique<Block>();
    rest->pointer = block->pointer + bytes;
    rest->bytes = block->bytes - bytes;
    rest->block_class = block->block_class;
    rest->left = block;
    rest->right = std::exchange(block->right, rest.get());
    if (rest->right != nullptr) rest->right->left = rest.get();
    block->bytes = bytes;
    free_[rest->block_class].insert(rest.get());
    blocks_[rest->pointer] = std::move(rest);
}

Block* Blocks::find(const void* pointer) {
    const auto* const address = static_cast<const std::byte*>(pointer);
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    Block* const block = std::prev(after)->second.get();
    return block->used && address < block->pointer + block->bytes ? block : nullptr;
}

void Blocks::release(Block* block) {
    block->used = false;
    block->other_streams.clear();
    if (block->left != nullptr && !block->left->used) {
        free_[block->block_class].erase(block->left);
        block = merge(block->left, block);
    }
    if (block->right != nullptr && !block->right->used) {
        free_[block->block_class].erase(block->right);
        block = merge(block, block->right);
    }
    free_[block->block_class].insert(block);
}

// REQUIRES: neither block is in free_.
Block* Blocks::merge(Block* left, Block* right) {
    left->bytes += right->bytes;
    left->right = right->right;
    if (left->right != nullptr) left->right->left = left;
    blocks_.erase(right->pointer);
    return left;
}

std::vector<std::pair<void*, size_t>> Blocks::remove_free_segments(int device) {
    std::vector<std::pair<void*, size_t>> segments;
    for (auto& [block_class, free] : free_) {
        if (block_class.device != device) continue;
        std::erase_if(free, [&](Block* block) {
            if (block->left != nullptr || block->right != nullptr) return false;
            segments.emplace_back(block->pointer, block->bytes);
            return true;
        });
    }
    for (const auto& [pointer, bytes] : segments)
        blocks_.erase(static_cast<std::byte*>(pointer));
    return segments;
}

}  // namespace mini::cuda
