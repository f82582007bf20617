#include "libmini/kernels/cuda/blocks.hpp"

#include <utility>

namespace mini::cuda {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Small blocks are cut to the last 512 bytes; of a large one, less than 1 MiB is not worth it.
bool worth_cutting(const Block& block, size_t bytes) {
    const size_t rest = block.bytes - bytes;
    return block.of.small ? rest >= kBlockBytes : rest > kSmallBytes;
}

}  // namespace

size_t block_bytes(size_t bytes) { return round_up(bytes, kBlockBytes); }

size_t segment_bytes(size_t block) {
    if (block <= kSmallBytes) return kSmallSegment;
    if (block < kMediumBytes) return kMediumSegment;
    return round_up(block, kLargeMultiple);
}

Block* Blocks::take(const BlockClass& of, size_t bytes) {
    const auto candidates = free_.find(of);
    if (candidates == free_.end()) return nullptr;
    Block least;
    least.bytes = bytes;
    const auto fit = candidates->second.lower_bound(&least);
    if (fit == candidates->second.end()) return nullptr;
    Block* const block = *fit;
    candidates->second.erase(fit);
    if (worth_cutting(*block, bytes)) cut(block, bytes);
    block->used = true;
    return block;
}

void Blocks::add_segment(const BlockClass& of, void* pointer, size_t bytes) {
    auto block = std::make_unique<Block>();
    block->pointer = static_cast<std::byte*>(pointer);
    block->bytes = bytes;
    block->of = of;
    free_[of].insert(block.get());
    blocks_[block->pointer] = std::move(block);
}

// Leaves `bytes` in the block and makes a free one of the rest.
void Blocks::cut(Block* block, size_t bytes) {
    auto rest = std::make_unique<Block>();
    rest->pointer = block->pointer + bytes;
    rest->bytes = block->bytes - bytes;
    rest->of = block->of;
    rest->left = block;
    rest->right = std::exchange(block->right, rest.get());
    if (rest->right != nullptr) rest->right->left = rest.get();
    block->bytes = bytes;
    free_[rest->of].insert(rest.get());
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
    block->used = block->ends_with_pool = false;
    block->other_streams.clear();
    if (block->left != nullptr && !block->left->used) {
        free_[block->of].erase(block->left);
        block = unite(block->left, block);
    }
    if (block->right != nullptr && !block->right->used) {
        free_[block->of].erase(block->right);
        block = unite(block, block->right);
    }
    free_[block->of].insert(block);
}

// REQUIRES: neither is among the free ones.
Block* Blocks::unite(Block* left, Block* right) {
    left->bytes += right->bytes;
    left->right = right->right;
    if (left->right != nullptr) left->right->left = left;
    blocks_.erase(right->pointer);
    return left;
}

std::vector<std::pair<void*, size_t>> Blocks::remove_free_segments(int device) {
    std::vector<std::pair<void*, size_t>> segments;
    for (auto& [of, free] : free_) {
        if (of.device != device || of.pool != 0) continue;
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

void Blocks::dissolve(uint64_t pool) {
    std::vector<Block*> ending;
    for (auto& [pointer, block] : blocks_) {
        if (block->of.pool != pool) continue;
        if (!block->used) free_[block->of].erase(block.get());
        block->of.pool = 0;
        if (!block->used) free_[block->of].insert(block.get());
        if (block->ends_with_pool) ending.push_back(block.get());
    }
    std::erase_if(free_, [&](const auto& each) { return each.first.pool == pool; });
    for (Block* block : ending) release(block);
}

}  // namespace mini::cuda
