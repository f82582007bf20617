// The images that cifar_resnet draws if it has no CIFAR-10. A model learns their classes
// quickly.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/datasets/image_dataset.hpp"

namespace cifar_resnet {

/// Draws `count` images (3, 32, 32), normalised like CIFAR-10; image i has class i % 10.
/// An image of class k has the colour of this class, stripes that are rotated by 18 k
/// degrees and randomly shifted, and noise. The same seed gives the same images.
std::shared_ptr<mini::data::ImageDataset> draw_images(int64_t count, uint64_t seed);

}  // namespace cifar_resnet
