// Images for cifar_resnet where there is no CIFAR-10: drawn, small, and quickly learnt.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/datasets/image_dataset.hpp"

namespace mini::data {

/// `count` images (3, 32, 32), normalised as CIFAR-10's, of classes 0, 1, .. 9, 0, 1, ..:
/// class k is stripes turned by 18 k degrees, in a colour of its own, at a random place
/// and under noise. The same seed draws the same images.
std::shared_ptr<ImageDataset> draw_images(int64_t count, uint64_t seed);

}  // namespace mini::data
