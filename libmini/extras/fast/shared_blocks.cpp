#include "libmini/extras/fast/shared_blocks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include "libmini/core/error.hpp"

namespace mini::fast {
namespace {

// Where the bytes of a block begin in its pages: far from the offset of rings and of large
// tensors in theirs. Where two addresses differ by nearly a multiple of 4 KiB, a processor
// takes a load from one for a load of what it has just stored to the other, and waits: a
// ring through memory takes three times as long.
constexpr size_t kFirstByte = 2048;

// The blocks of this process, by address.
struct Blocks {
    struct Block {
        dist::NewSharedMemory shared;
        pid_t process = 0;
        uint64_t number = 0;
    };
    std::mutex mutex;  // guards the members below
    std::map<const std::byte*, Block> by_address;
    uint64_t count = 0;  // of all blocks so far
};

Blocks& blocks() {
    static auto* const all = new Blocks;  // never deleted: threads may end after main
    return *all;
}

// Unmaps the block, and returns its memory to the system, even if other ranks map it.
void free_block(const std::byte* data) noexcept {
    const std::lock_guard lock(blocks().mutex);
    const auto freed = blocks().by_address.extract(data);
    const auto& [memory, descriptor] = freed.mapped().shared;
    ::fallocate(descriptor.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                static_cast<off_t>(memory->bytes().size()));
}

}  // namespace

std::shared_ptr<std::byte> allocate_block(size_t bytes) {
    dist::NewSharedMemory shared = dist::make_shared_memory(kFirstByte + bytes);
    std::byte* const data = shared.memory->bytes().data() + kFirstByte;
    const std::lock_guard lock(blocks().mutex);
    blocks().by_address[data] = {std::move(shared), ::getpid(), ++blocks().count};
    return {data, free_block};
}

BlockBytes find(std::span<const std::byte> bytes) {
    const std::lock_guard lock(blocks().mutex);
    const auto after = blocks().by_address.upper_bound(bytes.data());
    if (after == blocks().by_address.begin()) return {};
    const auto& [data, block] = *std::prev(after);
    const size_t block_bytes = block.shared.memory->bytes().size();
    const auto offset = kFirstByte + static_cast<size_t>(bytes.data() - data);
    if (offset + bytes.size() > block_bytes) return {};
    return {block.process, block.shared.descriptor.fd(), block.number, block_bytes,
            offset};
}

std::span<std::byte> PeerBlocks::at(const BlockBytes& where, size_t bytes) {
    MINI_CHECK(
        where.offset <= where.block_bytes && bytes <= where.block_bytes - where.offset,
        "shared memory: ", bytes, " bytes at ", where.offset, " are not in a block of ",
        where.block_bytes);
    const Key key(where.process, where.block);
    auto found = mapped_.find(key);
    if (found == mapped_.end()) {
        auto memory =
            dist::map_shared_memory(where.process, where.descriptor, where.block_bytes);
        if (mapped_.size() == kMaxMapped)
            mapped_.erase(std::ranges::min_element(
                mapped_, {}, [](const auto& entry) { return entry.second.last_use; }));
        found = mapped_.emplace(key, Mapped{std::move(memory)}).first;
    }
    found->second.last_use = ++calls_;
    return found->second.memory->bytes().subspan(where.offset, bytes);
}

}  // namespace mini::fast
