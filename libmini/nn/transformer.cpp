#include "libmini/nn/transformer.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "libmini/autograd/checkpoint.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/nn/init.hpp"

namespace mini::nn {
namespace {

// Two layers for each position alone, with four times the features between them.
class MLP : public Module {
  public:
    explicit MLP(int64_t n_embd)
        : c_fc_(n_embd, 4 * n_embd), c_proj_(4 * n_embd, n_embd) {
        register_module("c_fc", c_fc_);
        register_module("c_proj", c_proj_);
    }
    Tensor forward(const Tensor& x) override { return c_proj_(gelu(c_fc_(x))); }

  private:
    Linear c_fc_, c_proj_;
};

class Block : public Module {
  public:
    Block(int64_t n_embd, int64_t n_head)
        : ln_1_(n_embd), attn_(n_embd, n_head), ln_2_(n_embd), mlp_(n_embd) {
        register_module("ln_1", ln_1_);
        register_module("attn", attn_);
        register_module("ln_2", ln_2_);
        register_module("mlp", mlp_);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor y = x + attn_(ln_1_(x));
        return y + mlp_(ln_2_(y));
    }

  private:
    LayerNorm ln_1_;
    CausalSelfAttention attn_;
    LayerNorm ln_2_;
    MLP mlp_;
};

}  // namespace

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim)
    : weight(Tensor::empty({num_embeddings, embedding_dim})) {
    init::normal_(weight, 0, 1);
    register_parameter("weight", weight);
}

Tensor Embedding::forward(const Tensor& indices) { return embedding(indices, weight); }

CausalSelfAttention::CausalSelfAttention(int64_t n_embd, int64_t n_head)
    : n_head_(n_head), c_attn_(n_embd, 3 * n_embd), c_proj_(n_embd, n_embd) {
    if (n_head < 1 || n_embd % n_head != 0)
        throw UsageError("attention: ", n_head, " heads cannot divide ", n_embd,
                         " features equally");
    register_module("c_attn", c_attn_);
    register_module("c_proj", c_proj_);
}

Tensor CausalSelfAttention::forward(const Tensor& x) {
    const int64_t N = x.size(0), T = x.size(1), D = x.size(2);
    const Tensor all = c_attn_(x);  // (N, T, 3 D)
    const auto heads = [&](int64_t part) {
        const Tensor own = narrow(all, 2, part * D, D);
        return transpose(reshape(own, {N, T, n_head_, D / n_head_}), 1, 2);
    };
    const Tensor y =
        scaled_dot_product_attention(heads(0), heads(1), heads(2), {.is_causal = true});
    return c_proj_(reshape(transpose(y, 1, 2), {N, T, D}));
}

GPT::GPT(GPTConfig config)
    : config_(config),
      wte_(config.vocab_size, config.n_embd),
      wpe_(config.block_size, config.n_embd),
      ln_f_(config.n_embd) {
    register_module("wte", wte_);
    register_module("wpe", wpe_);
    for (int64_t i = 0; i < config.n_layer; ++i)
        h_.append<Block>(config.n_embd, config.n_head);
    register_module("h", h_);
    register_module("ln_f", ln_f_);
    lm_head_ = &make_module<Linear>("lm_head", config.n_embd, config.vocab_size,
                                    LinearOptions{.bias = false});
}

Tensor GPT::forward(const Tensor& tokens) {
    check_shape(
        tokens.dim() == 2 && tokens.size(1) >= 1 && tokens.size(1) <= config_.block_size,
        "GPT: the tokens are ", tokens.shape(), ", not (N, T) with T from 1 to ",
        config_.block_size);
    std::vector<int64_t> positions(static_cast<size_t>(tokens.size(1)));
    std::iota(positions.begin(), positions.end(), 0);
    const Tensor order = Tensor::from(positions, {tokens.size(1)}, tokens.device());
    Tensor x = wte_(tokens) + wpe_(order);
    const int64_t count = config_.n_checkpoint;
    if (count == 0) x = h_(x);
    for (int64_t begin = 0; count > 0 && begin < config_.n_layer; begin += count)
        x = checkpoint(
            [this, begin, end = std::min(begin + count, config_.n_layer)](Tensor y) {
                for (int64_t i = begin; i < end; ++i) y = h_[static_cast<size_t>(i)](y);
                return y;
            },
            x);
    return (*lm_head_)(ln_f_(x));
}

}  // namespace mini::nn
