// Chooses the data that a program trains on: the folder that the user gives, else MNIST
// in its usual folders, else the embedded digits.

#pragma once

#include <memory>
#include <string>

#include "libmini/datasets/mnist.hpp"

namespace mini::data {

/// The data that a program trains on.
struct DataChoice {
    std::string folder;       // of MNIST's files; "" for the embedded digits
    std::string name;         // "mnist" or "digits"
    std::string description;  // for the log: the dataset, its size and its source
};

/// Chooses the data for the value of a --data option:
///
///     "digits"    the embedded digits
///     a folder    MNIST, or another dataset of its format, in this folder
///     ""          $MINI_DATA_DIR/mnist, else data/mnist, else the embedded digits
///
/// Throws BadFile if a given folder does not have all four files (the error names the
/// missing files), or if the header of a file of images is wrong.
DataChoice find_data(const std::string& data_option);

/// Returns the train or test part of the data that find_data chose: reads MNIST's files;
/// the embedded digits are drawn at their first use. Throws the errors of load_mnist.
std::shared_ptr<ImageDataset> load_data(const DataChoice& choice, bool train);

}  // namespace mini::data
