// Targets that read images.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libmini/datasets/image_file.hpp"
#include "tests/datasets/images.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/read_file.hpp"

namespace mini::fuzz {
namespace {

void run_picture(Input input) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(input.data()),
                                         input.size());
    data::decode_image(bytes, "input");
}

Seeds png_seeds() {
    Seeds seeds;
    const auto add = [&](Picture picture) {
        const uint32_t largest = (1u << picture.depth) - 1;
        picture.sample = [largest](uint32_t x, uint32_t y, uint32_t channel) {
            return (31 * x + 7 * y + channel) & largest;
        };
        seeds.push_back(text_of(png_of(picture)));
    };
    add({.depth = 8, .colour = 2, .sample = {}});
    add({.depth = 1, .colour = 0, .sample = {}});
    add({.depth = 16, .colour = 6, .sample = {}, .interlaced = true});
    add({.depth = 2, .colour = 3, .sample = {}, .palette = ramp(12, 251)});
    add({.depth = 8, .colour = 4, .sample = {}, .interlaced = true});
    return seeds;
}

Seeds jpeg_seeds() {
    Seeds seeds;
    for (const char* name : {"baseline", "grey", "progressive", "subsampled"})
        seeds.push_back(
            test::read_file(std::string(MINI_GOLDEN_DIR "/images/") + name + ".jpg"));
    return seeds;
}

}  // namespace

std::vector<Target> picture_targets() {
    return {{"png", run_picture, png_seeds()}, {"jpeg", run_picture, jpeg_seeds()}};
}

}  // namespace mini::fuzz
