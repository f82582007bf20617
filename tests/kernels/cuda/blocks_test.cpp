// How the caching allocator splits segments into blocks.

#include <vector>

#include "libmini/kernels/cuda/blocks.hpp"
#include "tests/support/catch.hpp"

namespace mini::cuda {
namespace {

TEST_CASE("block and segment sizes equal those of PyTorch's allocator") {
    constexpr size_t MiB = 1 << 20;
    CHECK(block_bytes(1) == 512);
    CHECK(block_bytes(512) == 512);
    CHECK(block_bytes(513) == 1024);
    CHECK(segment_bytes(512) == 2 * MiB);
    CHECK(segment_bytes(MiB) == 2 * MiB);
    CHECK(segment_bytes(MiB + 512) == 20 * MiB);
    CHECK(segment_bytes(10 * MiB - 512) == 20 * MiB);
    CHECK(segment_bytes(10 * MiB) == 10 * MiB);
    CHECK(segment_bytes(11 * MiB) == 12 * MiB);
}

// Blocks in a segment of host memory. The memory itself is not accessed.
struct Segment {
    explicit Segment(size_t bytes, bool small = true)
        : memory(bytes), block_class{0, nullptr, small} {
        blocks.add_segment(block_class, memory.data(), bytes);
    }

    std::vector<std::byte> memory;
    BlockClass block_class;
    Blocks blocks;
};

TEST_CASE("take returns the smallest sufficient block and splits off the rest") {
    Segment segment(8192);
    Block* const a = segment.blocks.take(segment.block_class, 1024);
    Block* const b = segment.blocks.take(segment.block_class, 2048);
    Block* const c = segment.blocks.take(segment.block_class, 512);
    REQUIRE(c != nullptr);
    CHECK(a->pointer == segment.memory.data());
    CHECK(b->pointer == a->pointer + 1024);
    CHECK(c->pointer == b->pointer + 2048);
    segment.blocks.release(a);  // free now: 1024 at a, 4608 after c
    CHECK(segment.blocks.take(segment.block_class, 1024)->pointer ==
          segment.memory.data());
    CHECK(segment.blocks.take(segment.block_class, 4608) != nullptr);
    CHECK(segment.blocks.take(segment.block_class, 512) == nullptr);
}

TEST_CASE("adjacent free blocks are merged in any order of frees") {
    const auto order = GENERATE(std::vector<int>{0, 1, 2}, std::vector<int>{2, 1, 0},
                                std::vector<int>{0, 2, 1}, std::vector<int>{1, 0, 2});
    Segment segment(4096);
    std::vector<Block*> taken;
    for (int i = 0; i < 3; ++i)
        taken.push_back(segment.blocks.take(segment.block_class, 512));
    CHECK(segment.blocks.remove_free_segments(0).empty());
    for (int i : order) segment.blocks.release(taken[static_cast<size_t>(i)]);
    const auto whole = segment.blocks.remove_free_segments(0);
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].first == segment.memory.data());
    CHECK(whole[0].second == 4096);
    CHECK(segment.blocks.take(segment.block_class, 512) == nullptr);
}

TEST_CASE("a large block is not split if at most 1 MiB would remain") {
    constexpr size_t MiB = 1 << 20;
    Segment segment(4 * MiB, false);
    CHECK(segment.blocks.take(segment.block_class, 3 * MiB)->bytes == 4 * MiB);
    Segment other(4 * MiB, false);
    CHECK(other.blocks.take(other.block_class, 3 * MiB - 512)->bytes == 3 * MiB - 512);
}

TEST_CASE("a block is reused only for its own device and stream") {
    Segment segment(4096);
    BlockClass other = segment.block_class;
    const int which = GENERATE(0, 1);
    if (which == 0) other.device = 1;
    if (which == 1) other.stream = reinterpret_cast<cudaStream_t>(&segment);
    CHECK(segment.blocks.take(other, 512) == nullptr);
    CHECK(segment.blocks.take(segment.block_class, 512) != nullptr);
}

TEST_CASE("find returns a block in use for any of its addresses") {
    Segment segment(4096);
    Block* const a = segment.blocks.take(segment.block_class, 1024);
    CHECK(segment.blocks.find(a->pointer) == a);
    CHECK(segment.blocks.find(a->pointer + 1023) == a);
    CHECK(segment.blocks.find(a->pointer + 1024) == nullptr);
    segment.blocks.release(a);
    CHECK(segment.blocks.find(segment.memory.data()) == nullptr);
}

}  // namespace
}  // namespace mini::cuda
