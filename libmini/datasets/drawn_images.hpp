// Generated images that replace CIFAR-10 in cifar_resnet if it is not available: small,
// and quickly learnt.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/datasets/image_dataset.hpp"

namespace mini::data {

/// Draws `count` images (3, 32, 32), normalised like CIFAR-10, of classes 0, 1, .. 9, 0,
/// 1, ..: class k has stripes rotated by 18 k degrees and its own colour, with a random
/// shift of the stripes and noise. The same seed gives the same images.
std::shared_ptr<ImageDataset> draw_images(int64_t count, uint64_t seed);

}  // namespace mini::data
