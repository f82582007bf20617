// How the caching allocator cuts segments into blocks.

#include <vector>

#include "libmini/kernels/cuda/blocks.hpp"
#include "tests/support/catch.hpp"

namespace mini::cuda {
namespace {

TEST_CASE("sizes are those of PyTorch's allocator") {
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

// Blocks over a segment of host memory, none of which is touched.
struct Segment {
    explicit Segment(size_t bytes, bool small = true)
        : memory(bytes), of{0, nullptr, 0, small} {
        blocks.add_segment(of, memory.data(), bytes);
    }

    std::vector<std::byte> memory;
    BlockClass of;
    Blocks blocks;
};

TEST_CASE("the smallest block that suffices is taken and its rest cut off") {
    Segment segment(8192);
    Block* const a = segment.blocks.take(segment.of, 1024);
    Block* const b = segment.blocks.take(segment.of, 2048);
    Block* const c = segment.blocks.take(segment.of, 512);
    REQUIRE(c != nullptr);
    CHECK(a->pointer == segment.memory.data());
    CHECK(b->pointer == a->pointer + 1024);
    CHECK(c->pointer == b->pointer + 2048);
    segment.blocks.release(a);  // free now: 1024 at a, 4608 after c
    CHECK(segment.blocks.take(segment.of, 1024)->pointer == segment.memory.data());
    CHECK(segment.blocks.take(segment.of, 4608) != nullptr);
    CHECK(segment.blocks.take(segment.of, 512) == nullptr);
}

TEST_CASE("free neighbours become one block in whatever order they are freed") {
    const auto order = GENERATE(std::vector<int>{0, 1, 2}, std::vector<int>{2, 1, 0},
                                std::vector<int>{0, 2, 1}, std::vector<int>{1, 0, 2});
    Segment segment(4096);
    std::vector<Block*> taken;
    for (int i = 0; i < 3; ++i) taken.push_back(segment.blocks.take(segment.of, 512));
    CHECK(segment.blocks.remove_free_segments(0).empty());
    for (int i : order) segment.blocks.release(taken[static_cast<size_t>(i)]);
    const auto whole = segment.blocks.remove_free_segments(0);
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].first == segment.memory.data());
    CHECK(whole[0].second == 4096);
    CHECK(segment.blocks.take(segment.of, 512) == nullptr);
}

TEST_CASE("of a large block a rest of a mebibyte stays with it") {
    constexpr size_t MiB = 1 << 20;
    Segment segment(4 * MiB, false);
    CHECK(segment.blocks.take(segment.of, 3 * MiB)->bytes == 4 * MiB);
    Segment other(4 * MiB, false);
    CHECK(other.blocks.take(other.of, 3 * MiB - 512)->bytes == 3 * MiB - 512);
}

TEST_CASE("blocks go to their own device stream and pool alone") {
    Segment segment(4096);
    BlockClass other = segment.of;
    const int which = GENERATE(0, 1, 2);
    if (which == 0) other.device = 1;
    if (which == 1) other.stream = reinterpret_cast<cudaStream_t>(&segment);
    if (which == 2) other.pool = 1;
    CHECK(segment.blocks.take(other, 512) == nullptr);
    CHECK(segment.blocks.take(segment.of, 512) != nullptr);
}

TEST_CASE("a block is found by any of its addresses while it is in use") {
    Segment segment(4096);
    Block* const a = segment.blocks.take(segment.of, 1024);
    CHECK(segment.blocks.find(a->pointer) == a);
    CHECK(segment.blocks.find(a->pointer + 1023) == a);
    CHECK(segment.blocks.find(a->pointer + 1024) == nullptr);
    segment.blocks.release(a);
    CHECK(segment.blocks.find(segment.memory.data()) == nullptr);
}

TEST_CASE("a pool's blocks are everyone's when it is dissolved") {
    const BlockClass everyone = {0, nullptr, 0, true}, of = {0, nullptr, 3, true};
    std::vector<std::byte> memory(4096);
    Blocks blocks;
    blocks.add_segment(of, memory.data(), 4096);
    CHECK(blocks.remove_free_segments(0).empty());  // a pool keeps its segments
    Block* const used = blocks.take(of, 512);
    Block* const ending = blocks.take(of, 512);
    ending->ends_with_pool = true;
    blocks.dissolve(3);
    CHECK(blocks.take(of, 512) == nullptr);
    CHECK(blocks.take(everyone, 3584)->pointer == memory.data() + 512);
    blocks.release(used);
    CHECK(blocks.take(everyone, 512)->pointer == memory.data());
}

}  // namespace
}  // namespace mini::cuda
