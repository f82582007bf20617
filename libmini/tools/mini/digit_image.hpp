// A picture of a digit in the form of MNIST: light on black, 28 x 28.
//
//     picture       as light as ink is      crop, scale           centre
//     . . . . .     0 0 0 0 0               20 x 20 pixels        28 x 28, the ink's
//     . # # . .     0 1 1 0 0   ---->       hold the ink   ---->  centre of mass in
//     . . # . .     0 0 1 0 0                                     the middle

#pragma once

#include <string>

#include "libmini/tensor/tensor.hpp"

namespace mini::tools {

/// Returns a grey picture, uint8 (1, H, W), as MNIST's authors prepared theirs: float32
/// (1, 28, 28), 0 for the background and 1 for the ink. The background is what the border
/// shows, light or dark. A picture of 28 x 28 with a dark border is returned as it is.
/// Throws UsageError, with the name of the file, if the picture has only one value.
///
/// LeCun, Cortes and Burges 1998, "The MNIST database of handwritten digits".
Tensor as_mnist(const Tensor& picture, const std::string& name);

/// Returns a picture (1, 28, 28) of values from 0 to 1 as 14 lines of text: a character
/// for two pixels, one above the other. `indent` precedes each line.
std::string as_text(const Tensor& digit, const std::string& indent);

}  // namespace mini::tools
