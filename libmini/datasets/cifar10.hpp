// CIFAR-10: 50,000 + 10,000 colour images (3, 32, 32) of ten classes, in the binary
// version of its archive, cifar-10-binary.tar.gz.
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

/// The most bytes that one file may hold: twice as many as CIFAR-10's own.
constexpr int64_t kMaxCifar10FileBytes = int64_t{20000} * 3073;

/// The mean and the deviation of each colour over the training images.
ImageDataset::Normalize cifar10_normalize();

/// The files of the train (data_batch_1.bin to data_batch_5.bin) or test part
/// (test_batch.bin) that are neither in `folder` nor in its cifar-10-batches-bin.
std::vector<std::string> missing_cifar10_files(const std::string& folder, bool train);

/// Reads the train or test part from `folder`, or from its subfolder
/// cifar-10-batches-bin: normalised, or with std::nullopt as bytes for transforms.
/// Throws BadFile naming folder or file, what was expected, what was found and what to
/// download: missing files, what is no regular file or cannot be read, sizes that are no
/// multiple of 3,073 or above kMaxCifar10FileBytes, labels above 9 with the number of the
/// record (from 0). Every size is checked before the first byte is read.
std::shared_ptr<ImageDataset> load_cifar10(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize = cifar10_normalize());

}  // namespace mini::data
