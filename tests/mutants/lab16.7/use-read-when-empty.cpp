// `use` is read in each pass, also where it is empty.
    for (size_t index = 0; index < slots_.size(); ++index)
        if (use[index] > 0) tensor(index).set_grad(in_bucket(index));
