#include "libmini/kernels/cuda/graph.hpp"

#include <utility>
#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/matmul.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"

namespace mini::cuda {
namespace {

// Four floats on device 0, and a stream.
struct Four {
    Four() { write({1, 2, 3, 4}); }
    ~Four() { deallocate(data); }
    Four(const Four&) = delete;
    Four& operator=(const Four&) = delete;

    void write(const std::vector<float>& values) {
        copy(data, values.data(), 4 * sizeof(float), stream.get());
        stream.synchronize();
    }
    std::vector<float> read() const {
        std::vector<float> values(4);
        copy(values.data(), data, 4 * sizeof(float), stream.get());
        stream.synchronize();
        return values;
    }
    void scale(float by) { kernels::cuda::scale(data, by, 4, stream.get()); }

    Stream stream{0};
    float* data = static_cast<float*>(allocate(4 * sizeof(float), 0, stream.get()));
};

TEST_CASE("a capture does not run the work and each replay runs it") {
    Four four;
    const Graph graph(four.stream, [&] {
        four.scale(2);
        four.scale(5);
    });
    CHECK(four.read() == std::vector<float>{1, 2, 3, 4});
    graph.replay(four.stream);
    CHECK(four.read() == std::vector<float>{10, 20, 30, 40});
    graph.replay(four.stream);
    graph.replay(four.stream);
    CHECK(four.read() == std::vector<float>{1000, 2000, 3000, 4000});
}

TEST_CASE("a replay reads the current contents of memory in stream order") {
    Four four;
    const Graph graph(four.stream, [&] { four.scale(3); });
    four.write({5, 6, 7, 8});
    graph.replay(four.stream);
    four.scale(10);
    CHECK(four.read() == std::vector<float>{150, 180, 210, 240});
}

TEST_CASE("a graph can contain copies, set_bytes and matrix products") {
    Four four, product;
    const auto work = [&] {
        set_bytes(product.data, 0, 4 * sizeof(float), four.stream.get());
        kernels::cuda::matmul(product.data, four.data, four.data, 2, 2, 2,
                              {.accumulate = true}, four.stream.get());
        copy(four.data, product.data, 4 * sizeof(float), four.stream.get());
    };
    work();  // creates cuBLAS's handle and workspace now, as a capture must not
    four.write({1, 1, 0, 1});
    const Graph graph(four.stream, work);
    for (int i = 0; i < 3; ++i) graph.replay(four.stream);
    CHECK(four.read() == std::vector<float>{1, 8, 0, 1});  // squared three times
}

TEST_CASE("a capturing thread can allocate memory whose last use is pending") {
    Four four;
    const Stream other(0);
    void* const pinned = allocate_pinned(4 * sizeof(float));
    copy(pinned, four.data, 4 * sizeof(float), four.stream.get());
    deallocate_pinned(pinned);
    void* const shared = allocate(3 << 20, 0, four.stream.get());
    record_stream(shared, other.get());
    deallocate(shared);

    const Graph graph(four.stream, [&] {
        four.scale(2);
        for (const size_t bytes : {4 * sizeof(float), size_t{1} << 20})
            deallocate_pinned(allocate_pinned(bytes));
        deallocate(allocate(3 << 20, 0, four.stream.get()));
    });
    graph.replay(four.stream);
    CHECK(four.read() == std::vector<float>{2, 4, 6, 8});
    empty_pinned_cache();
}

TEST_CASE("the stream is usable after a failed capture") {
    Four four;
    CHECK_THROWS_WITH(Graph(four.stream,
                            [&] {
                                four.scale(2);
                                throw Error("failed");
                            }),
                      "failed");
    CHECK_THROWS_AS(Graph(four.stream, [&] { four.stream.synchronize(); }), CudaError);
    four.scale(7);
    CHECK(four.read() == std::vector<float>{7, 14, 21, 28});
}

TEST_CASE("a graph can be moved and an empty graph can be replayed") {
    Four four;
    Graph first(four.stream, [&] { four.scale(2); });
    const Graph second = std::move(first);
    const Graph empty(four.stream, [] {});
    second.replay(four.stream);
    empty.replay(four.stream);
    CHECK(four.read() == std::vector<float>{2, 4, 6, 8});
}

TEST_CASE("memory that a captured stream uses may be freed during the capture") {
    const test::Caching on(true);
    const Four four;
    const size_t before = memory_stats(0).allocated;
    void* const used = allocate(test::kMiB, 0, nullptr);
    record_stream(used, four.stream.get());
    const Graph graph(four.stream, [&] { deallocate(used); });

    // Allocations carry out the postponed free, and look for complete events.
    deallocate(allocate(512, 0, nullptr));
    deallocate(allocate(16 * test::kMiB, 0, nullptr));
    CHECK(memory_stats(0).allocated == before);
}

TEST_CASE("the captured stream is the current stream during the capture") {
    Four four;
    const cudaStream_t before = current_stream(0);
    const Graph graph(four.stream,
                      [&] { REQUIRE(current_stream(0) == four.stream.get()); });
    CHECK(current_stream(0) == before);
}

}  // namespace
}  // namespace mini::cuda
