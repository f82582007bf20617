// MNIST: images (1, 28, 28) of ten digits, stored as IDX files.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/datasets/image_dataset.hpp"

namespace mini::data {

/// Returns the mean and the standard deviation of the training images, as in PyTorch's
/// examples.
ImageDataset::Normalize mnist_normalize();

/// Returns the names of MNIST's four files that are missing in `folder`. Each file may be
/// plain or .gz, be named train-images-idx3-ubyte or train-images.idx3-ubyte in upper or
/// lower case, and be in a folder of its own name, as some archives unpack it. The files
/// may also be in MNIST/raw below `folder`, where torchvision's datasets.MNIST(folder)
/// puts them.
std::vector<std::string> missing_mnist_files(const std::string& folder);

/// Returns the number of images of the train or test part in `folder`; reads only the
/// header of the images' file. Throws BadFile as load_mnist does.
int64_t count_mnist(const std::string& folder, bool train);

/// Returns the train part (60,000 images) or test part (10,000) of MNIST, read from
/// `folder`. If `normalize` is std::nullopt, the images stay bytes, for transforms.
/// Throws BadFile naming the file, what was expected and what was found: for missing or
/// damaged files, images that are not 28 x 28, labels above 9, and different numbers of
/// labels and images. A header with a wrong size does not cause a large allocation.
std::shared_ptr<ImageDataset> load_mnist(
    const std::string& folder, bool train,
    std::optional<ImageDataset::Normalize> normalize = mnist_normalize());

}  // namespace mini::data
