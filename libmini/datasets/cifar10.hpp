// CIFAR-10: 50,000 + 10,000 colour images (3, 32, 32) of ten classes, read from the
// binary version of its archive, cifar-10-binary.tar.gz.
//
//     a file      10,000 records, one after the other
//     a record    label | 1,024 bytes red | 1,024 green | 1,024 blue      3,073 bytes

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/datasets/image_dataset.hpp"

namespace mini::data {

/// The names of classes 0 to 9.
extern const std::array<const char*, 10> kCifar10Classes;

/// Returns the mean and the standard deviation of each colour over the training images.
ImageDataset::Normalize cifar10_normalize();

/// Returns the train or test part, read from `folder` or from its subfolder
/// cifar-10-batches-bin. If `normalize` is std::nullopt, the images stay bytes, for
/// transforms. Checks that all files have whole records before it reads the first byte.
///
/// Throws BadFile naming folder or file, what was expected, what was found and what to
/// download: if a file is missing, is not a regular file or cannot be read, if its size
/// is not a multiple of 3,073 or above twice that of CIFAR-10's own files, or if a label is above 9
/// (with the record number, from 0).
std::shared_ptr<ImageDataset> load_cifar10(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize = cifar10_normalize());

}  // namespace mini::data
