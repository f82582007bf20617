// A text as tokens, for a transformer that predicts the next character.
//
// Token 0 is the newline; 1 to 95 are the characters from the space to ~. Other characters,
// such as the lines of pictures, are left out. So each text has the same 96 tokens.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/random/random.hpp"

namespace mini::text {

using Tokens = std::vector<int64_t>;

constexpr int64_t kVocabSize = 96;

Tokens encode(const std::string& text);
std::string decode(const Tokens& tokens);

/// A text, divided by position: the model never sees the validation part.
struct Split {
    Tokens train, validation;
};

/// Returns the pages FOLDER/*/README.md, in the order of their paths; the last tenth is the
/// validation part. Throws UsageError if there are fewer than `least` characters.
Split read_pages(const std::string& folder, int64_t least);

/// Returns the windows of T tokens that begin at `begins`, (N, T), and as targets the same
/// windows one token later. REQUIRES: begin + T < tokens.size() for each.
data::Batch windows(const Tokens& tokens, const std::vector<int64_t>& begins, int64_t T);

/// Returns the mean loss of the scores of `model` for the next token of each position.
Tensor loss_of(nn::Module& model, const data::Batch& batch);

/// Returns `count` tokens that `model` continues `prompt` with, each drawn by the softmax
/// of scores / temperature. The model sees the last T tokens.
Tokens continue_text(nn::Module& model, Tokens prompt, int64_t count, int64_t T,
                     double temperature, Generator& generator);

}  // namespace mini::text
