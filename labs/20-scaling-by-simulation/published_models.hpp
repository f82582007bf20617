// The parameters of published models, generated from their architectures. They suffice to
// simulate the gradients of a model without running it.
//
//     convnet       nn::ConvNet, on images of 28 x 28 pixels: 21,840 in 8 tensors
//     resnet18      He et al. 2016, torchvision: 11,689,512 parameters in 62 tensors
//     resnet50      He et al. 2016, torchvision: 25,557,032 parameters in 161 tensors
//     bert          Devlin et al. 2019, BERT base uncased: 109,482,240 in 199 tensors
//     bert-large    BERT with 24 layers of width 1024: 335,141,888 in 391 tensors

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::lab20 {

/// One parameter tensor.
struct ModelParameter {
    std::string name;  // as in torchvision; for BERT, as in Hugging Face Transformers
    int64_t numel = 0;

    /// The number of multiply-adds with this tensor in the forward pass, per image (of 224
    /// x 224 pixels; convnet: of 28 x 28) or per token: number of elements times uses of
    /// each element. A token
    /// uses one row of an embedding. Attention's products of two activations are not
    /// counted (3 % at 128 tokens).
    double cost = 0;
};

/// Returns the names that published_model() accepts.
std::vector<std::string> published_models();

/// Returns the parameters of a model in forward order. Throws UsageError for an unknown
/// name; the message lists all names.
std::vector<ModelParameter> published_model(const std::string& name);

}  // namespace mini::lab20
