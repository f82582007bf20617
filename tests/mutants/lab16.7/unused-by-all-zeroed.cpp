// A parameter that no rank has used gets zeros, and momentum still moves it.
    static_cast<void>(use);
    for (size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].unused) tensor(index).set_grad(in_bucket(index));
