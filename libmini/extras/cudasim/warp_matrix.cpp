#include "libmini/extras/cudasim/warp_matrix.hpp"

#include <bit>

#include "libmini/extras/cudasim/block.hpp"

namespace mini::sim {
namespace {

constexpr int kLanes = 32;
constexpr int kWords = 8;  // along the depth of a product
constexpr unsigned kAllLanes = 0xffffffffu;

// A lane's words of a and b, for the other lanes to read.
struct Shares {
    const unsigned* a;
    const unsigned* b;
};

// Adds the products of one word of a and one word of b.
float add_products(WordFormat format, float total, unsigned a, unsigned b) {
    const auto number = [](unsigned bits) { return std::bit_cast<float>(bits); };
    if (format == WordFormat::kTf32)
        return total + number(a & 0xffffe000u) * number(b & 0xffffe000u);
    total += number(a << 16) * number(b << 16);
    return total + number(a & 0xffff0000u) * number(b & 0xffff0000u);
}

}  // namespace

void exchange_rows(unsigned* words, const unsigned* row) {
    const unsigned* own_table[kLanes];
    const unsigned** const table = exchange(kAllLanes, &own_table[0], 0);
    table[lane()] = row;
    warp_barrier(kAllLanes);
    for (int i = 0; i < 4; ++i) words[i] = table[8 * i + lane() / 4][lane() % 4];
    warp_barrier(kAllLanes);  // no lane leaves while another reads
}

void multiply_words(WordFormat format, float* d, const unsigned* a, const unsigned* b) {
    // Collect all lanes' words in lane 0's table.
    Shares own_table[kLanes];
    Shares* const table = exchange(kAllLanes, &own_table[0], 0);
    table[lane()] = {a, b};
    warp_barrier(kAllLanes);

    // Compute this lane's elements of d: rows g and g + 8, columns 2 t and 2 t + 1.
    const int g = lane() / 4, t = lane() % 4;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            for (int word = 0; word < kWords; ++word) {
                const unsigned from_a = table[4 * g + word % 4].a[i + word / 4 * 2];
                const unsigned from_b = table[4 * (2 * t + j) + word % 4].b[word / 4];
                float& total = d[2 * i + j];
                total = add_products(format, total, from_a, from_b);
            }
    warp_barrier(kAllLanes);
}

}  // namespace mini::sim
