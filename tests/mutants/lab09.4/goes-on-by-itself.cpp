// The sampler chooses the next epoch itself, without a word, unlike PyTorch.
    ++epoch_;
