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

/// The maximum size of one file in bytes: twice the size of CIFAR-10's own files.
constexpr int64_t kMaxCifar10FileBytes = int64_t{20000} * 3073;

/// Returns the mean and the standard deviation of each colour over the training images.
ImageDataset::Normalize cifar10_normalize();

/// Returns the missing files of the train (data_batch_1.bin to data_batch_5.bin) or test
/// part (test_batch.bin), of `folder` or its subfolder cifar-10-batches-bin, whichever
/// lacks fewer.
std::vector<std::string> missing_cifar10_files(const std::string& folder, bool train);

/// Reads the train or test part from `folder`, or from its subfolder
/// cifar-10-batches-bin: normalised, or with std::nullopt as bytes for transforms. Throws
/// BadFile naming folder or file, what was expected, what was found and what to download:
/// for missing files, files that are not regular or cannot be read, sizes that are not a
/// multiple of 3,073 or are above kMaxCifar10FileBytes, and labels above 9 (with the
/// record number, from 0). All sizes are checked before the first byte is read.
std::shared_ptr<ImageDataset> load_cifar10(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize = cifar10_normalize());

}  // namespace mini::data
