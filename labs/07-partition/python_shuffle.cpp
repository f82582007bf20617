#include "labs/07-partition/python_shuffle.hpp"

#include <bit>
#include <utility>

// [lab07 file]
namespace mini::labs {

void python_shuffle(std::vector<int64_t>& values, PythonRandom& random) {
    // [lab07.6] Fill the places from the back, each from all that are not filled yet.
    for (uint64_t left = values.size(); left > 1; --left) {
        const int bits = std::bit_width(left);
        uint64_t pick = random.getrandbits(bits);
        while (pick >= left) pick = random.getrandbits(bits);
        std::swap(values[left - 1], values[pick]);
    }
    // [lab07.6]
}

}  // namespace mini::labs
// [lab07 file]
