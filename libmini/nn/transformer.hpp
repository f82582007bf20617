// A decoder-only transformer: predicts the next token of a text from the tokens before it.
//
//     tokens (N, T)      wte(tokens) + wpe(0 .. T-1)                     (N, T, n_embd)
//     n_layer blocks     x = x + attn(ln_1(x));  x = x + mlp(ln_2(x))    (N, T, n_embd)
//     scores             lm_head(ln_f(x))                                (N, T, vocab_size)
//
// Attention is causal: position t sees the positions 0 to t. So one pass over T tokens gives
// T predictions, and each of them has a loss.
//
// Vaswani et al. 2017, "Attention is all you need"; the order of the layers is GPT-2's
// (Radford et al. 2019), the names are those of GPT-2 and nanoGPT:
//
//     wte.weight   wpe.weight   ln_f.weight   ln_f.bias   lm_head.weight
//     h.0.ln_1.weight .bias     h.0.attn.c_attn.weight .bias   h.0.attn.c_proj.weight .bias
//     h.0.ln_2.weight .bias     h.0.mlp.c_fc.weight .bias      h.0.mlp.c_proj.weight .bias
//
// The weights are (out, in), as in nanoGPT. Unlike there, lm_head has its own weight and not
// wte's, and the initial values are those of PyTorch's layers.

#pragma once

#include <cstdint>

#include "libmini/nn/container.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"

namespace mini::nn {

/// A table with a row for each index; maps int64 indices (...) to (..., embedding_dim)
/// (`torch.nn.Embedding`).
class Embedding : public Module {
  public:
    Embedding(int64_t num_embeddings, int64_t embedding_dim);
    Tensor forward(const Tensor& indices) override;

    Tensor weight;  // (num_embeddings, embedding_dim), initially standard normal
};

/// Attention of the positions of x (N, T, n_embd) to each other, by n_head heads with
/// n_embd / n_head features each. Throws UsageError unless n_head divides n_embd.
class CausalSelfAttention : public Module {
  public:
    CausalSelfAttention(int64_t n_embd, int64_t n_head);
    Tensor forward(const Tensor& x) override;

  private:
    int64_t n_head_;
    Linear c_attn_;  // to queries, keys and values, one after the other
    Linear c_proj_;
};

/// The sizes of a GPT, with nanoGPT's names.
struct GPTConfig {
    int64_t vocab_size = 96;
    int64_t block_size = 64;  // the greatest T
    int64_t n_layer = 4;
    int64_t n_head = 4;
    int64_t n_embd = 64;
    int64_t n_checkpoint = 0;  // so many blocks in each checkpoint(); 0: none
};

/// The transformer; with the default config it has 216,448 parameters.
class GPT : public Module {
  public:
    explicit GPT(GPTConfig config = {});

    /// Returns the scores (N, T, vocab_size) of the token after each of `tokens` (N, T),
    /// int64. Throws ShapeError unless T is 1 to block_size.
    Tensor forward(const Tensor& tokens) override;

    const GPTConfig& config() const { return config_; }

  private:
    GPTConfig config_;
    Embedding wte_, wpe_;
    Sequential h_;
    LayerNorm ln_f_;
    Linear* lm_head_;
};

}  // namespace mini::nn
