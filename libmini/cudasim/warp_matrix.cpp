#include "libmini/cudasim/warp_matrix.hpp"

#include "libmini/cudasim/block.hpp"

namespace mini::sim {
namespace {

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// A lane's elements of a and b, for the other lanes to read.
struct Shares {
    const float* a;
    const float* b;
};

}  // namespace

void warp_multiply(float* d, const float* a, const float* b, const float* c,
                   MatrixExtents extents) {
    // Collect all lanes' elements in lane 0's table.
    Shares own_table[kLanes];
    Shares* const table = exchange(kAllLanes, &own_table[0], 0);
    table[lane()] = {a, b};
    warp_barrier(kAllLanes);

    // Compute this lane's elements of d; c may be the same array.
    const auto [m, n, k] = extents;
    for (int i = 0; i < m * n / kLanes; ++i) {
        const int row = (lane() + i * kLanes) / n, col = (lane() + i * kLanes) % n;
        float total = c[i];
        for (int j = 0; j < k; ++j) {
            const int in_a = row * k + j, in_b = j * n + col;
            total += table[in_a % kLanes].a[in_a / kLanes] *
                     table[in_b % kLanes].b[in_b / kLanes];
        }
        d[i] = total;
    }
    warp_barrier(kAllLanes);  // no lane leaves while another reads
}

}  // namespace mini::sim
