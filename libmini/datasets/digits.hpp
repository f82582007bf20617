// The embedded digits: a dataset similar to MNIST that is drawn by a program, so that no
// download is needed.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/datasets/mnist.hpp"

namespace mini::data {

/// The numbers of images, the same as in MNIST.
constexpr int64_t kDigitsTrain = 60000;
constexpr int64_t kDigitsTest = 10000;

/// Returns the first `count` images of the train or test part; an image is drawn at its
/// first use. The bytes are the same on every machine, and do not depend on the order of
/// use or the number of threads. The two parts have different images. Throws UsageError
/// for a count below 1.
std::shared_ptr<ImageDataset> make_digits(bool train, int64_t count);

}  // namespace mini::data
