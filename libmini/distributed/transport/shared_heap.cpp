#include "libmini/distributed/transport/shared_heap.hpp"

#include <fcntl.h>

#include <iterator>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

// Blocks begin at multiples of this size, because a process maps whole pages. No page of
// a Linux system that we know is larger.
constexpr uint64_t kAlignment = 64 << 10;

// How many blocks of one peer stay mapped. The oldest ones have probably been freed.
constexpr size_t kMaxMapped = 1024;

uint64_t aligned_size(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SharedHeap::SharedHeap() : file_(make_memory_file("mini-heap")) {}

std::shared_ptr<std::byte> SharedHeap::allocate(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const Block block{end_, extend_memory_file(file_, end_, bytes)};
    end_ += aligned_size(bytes);
    std::byte* const data = block.memory->bytes().data();
    blocks_[data] = block;
    return {data, [heap = shared_from_this()](std::byte* p) { heap->free(p); }};
}

// Unmaps the block, and returns its pages to the system. Other ranks may still map it.
void SharedHeap::free(const std::byte* data) noexcept {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.extract(data);
    ::fallocate(file_.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(block.mapped().begin),
                static_cast<off_t>(aligned_size(block.mapped().memory->bytes().size())));
}

SharedPlace SharedHeap::find(std::span<const std::byte> bytes) const {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(bytes.data());
    if (after == blocks_.begin()) return {};
    const auto& [data, block] = *std::prev(after);
    const size_t block_bytes = block.memory->bytes().size();
    const auto offset = static_cast<size_t>(bytes.data() - data);
    if (offset + bytes.size() > block_bytes) return {};
    return {block.begin, block_bytes, offset};
}

std::span<std::byte> PeerHeap::at(const SharedPlace& place, size_t bytes) {
    MINI_CHECK(
        place.offset <= place.block_bytes && bytes <= place.block_bytes - place.offset,
        "shared memory: ", bytes, " bytes at ", place.offset, " are not in a block of ",
        place.block_bytes);
    std::shared_ptr<Memory>& memory = mapped_[place.block];
    if (memory == nullptr || memory->bytes().size() != place.block_bytes)
        memory = map_shared_memory(file_, place.block_bytes, place.block);
    const auto found = memory->bytes().subspan(place.offset, bytes);
    if (mapped_.size() > kMaxMapped) {
        const bool is_this = mapped_.begin()->first == place.block;
        mapped_.erase(is_this ? std::next(mapped_.begin()) : mapped_.begin());
    }
    return found;
}

}  // namespace mini::dist
