// A bug hunt: three ranks divide twelve image files, each rank on its own, and a test
// wrongly reports that the parts are disjoint. Find out why some files are in two parts
// and some are in no part, and why the test passes anyway.
//
//     lab07_bug_hunt        prints each rank's samples; exits with 1 while a bug is left
//
// On a laptop, where all ranks are on one host, the first mistake has no effect; the second
// makes a test that cannot fail.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "libmini/random/python_random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace {

using mini::Tensor;
using Indices = std::vector<int64_t>;

constexpr int kRanks = 3;
constexpr int64_t kSamples = 12, kSeed = 1234;

// Returns the numbers of the files 0.png to 11.png, as a host's file system lists the
// folder: in the order of a hash table, which is another one on each host.
Indices list_folder(uint64_t host) {
    Indices files(kSamples);
    std::iota(files.begin(), files.end(), int64_t{0});
    const auto hash = [host](int64_t file) {
        return (static_cast<uint64_t>(file) + host + 1) * 0x9e3779b97f4a7c15u >> 32;
    };
    std::ranges::sort(files, {}, hash);
    return files;
}

// This rank's part: a run of the list, which all ranks shuffle identically. Each rank has
// a host of its own.
Indices divide(int rank) {
    mini::PythonRandom random(kSeed);
    Indices index = list_folder(static_cast<uint64_t>(rank));
    random.shuffle(index);

    const int64_t length = kSamples / kRanks;
    const auto begin = index.begin() + rank * length;
    return {begin, begin + length};
}

// Returns sample `i`, as a dataset does.
std::shared_ptr<const Tensor> get(int64_t i) {
    return std::make_shared<const Tensor>(Tensor::scalar(static_cast<float>(i)));
}

// Returns whether no sample is in the parts of two ranks.
bool parts_are_disjoint(const std::vector<Indices>& parts) {
    std::set<std::shared_ptr<const Tensor>> visited;
    for (const Indices& part : parts)
        for (const int64_t i : part)
            if (!visited.insert(get(i)).second) return false;
    return true;
}

}  // namespace

int main() {
    std::vector<Indices> parts;
    for (int rank = 0; rank < kRanks; ++rank) parts.push_back(divide(rank));
    for (int rank = 0; rank < kRanks; ++rank)
        std::cout << fmt::format("rank {}: samples {}\n", rank,
                                 fmt::join(parts[static_cast<size_t>(rank)], " "));
    std::cout << fmt::format("the test says: the parts are {}\n",
                             parts_are_disjoint(parts) ? "disjoint" : "not disjoint");

    // Count directly.
    Indices times(kSamples);
    for (const Indices& part : parts)
        for (const int64_t i : part) ++times[static_cast<size_t>(i)];
    Indices twice, never;
    for (int64_t i = 0; i < kSamples; ++i) {
        if (times[static_cast<size_t>(i)] > 1) twice.push_back(i);
        if (times[static_cast<size_t>(i)] == 0) never.push_back(i);
    }
    std::cout << fmt::format("dealt twice: {}; never: {}\n", fmt::join(twice, " "),
                             fmt::join(never, " "));
    if (!twice.empty()) return 1;

    // Check the test itself: two parts with the same sample are not disjoint.
    if (parts_are_disjoint({{1}, {1}})) {
        std::cout << "the test is still wrong: it calls (1) and (1) disjoint\n";
        return 1;
    }
    return 0;
}
