// Which data a program trains on: the folder that the user names, else MNIST where it
// usually lies, else the embedded digits.

#pragma once

#include <memory>
#include <string>

#include "libmini/datasets/mnist.hpp"

namespace mini::data {

/// What a program trains on.
struct DataChoice {
    std::string folder;       // that holds MNIST's files; "" for the embedded digits
    std::string name;         // "mnist" or "digits"
    std::string description;  // for people: what it is, how much, and from where
};

/// Chooses the data for `wanted`, the value of a --data option:
///
///     "digits"    the embedded digits
///     a folder    MNIST, or another set of its format, in this folder
///     ""          $MINI_DATA_DIR/mnist, else data/mnist, else the embedded digits
///
/// Throws BadFile naming the missing files when a named folder has not all four, and when
/// the header of a file that was found is wrong.
DataChoice find_data(const std::string& wanted);

/// Reads, or draws, the train or test part of what find_data chose. Throws as load_mnist
/// does.
std::shared_ptr<ImageDataset> load_data(const DataChoice& choice, bool train);

}  // namespace mini::data
