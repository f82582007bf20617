// The parameters of published models, generated from their architectures: enough to simulate
// the gradients of a model that libmini cannot run.
//
//     resnet50      He et al. 2016, as in torchvision: 25,557,032 parameters in 161 tensors
//     bert          Devlin et al. 2019, BERT base uncased: 109,482,240 in 199 tensors
//     bert-large    the same with 24 layers of width 1024: 335,141,888 in 391 tensors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::tools {

/// One parameter tensor.
struct ModelParameter {
    std::string name;  // torchvision's, and Hugging Face's for BERT
    int64_t numel = 0;

    /// Multiply-adds of the forward pass with this tensor: its elements times how often each is
    /// used, per image of 224 x 224 pixels, or per token. A token uses one row of an embedding.
    /// Attention's products of two activations are left out: 3 % at 128 tokens.
    double cost = 0;
};

/// The names that published_model() knows.
std::vector<std::string> published_models();

/// The parameters of a model in forward order. Throws UsageError for an unknown name; the
/// message lists all names.
std::vector<ModelParameter> published_model(const std::string& name);

}  // namespace mini::tools
