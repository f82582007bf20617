// mini predict: reads digits from pictures, with a ConvNet that train_mnist has saved.
//
//     $ mini predict convnet.safetensors seven.png
//     seven.png: 7 (99.2 %), 1 (0.5 %), 9 (0.2 %)
//     ... what the network saw, as text

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `predict` in `mini`. When the command line has been parsed, `predict` prints
/// a line and a drawing for each picture, or with --json one object per line. Reads PNG
/// and JPEG (see ImageMode::kGreyOverWhite and as_mnist). It throws BadFile for a
/// damaged file, and UsageError for a model that is not a ConvNet.
void add_predict(Command& mini);

}  // namespace mini::tools
