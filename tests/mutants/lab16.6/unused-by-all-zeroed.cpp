// A parameter that no rank has used gets zeros, and momentum still moves it.
// region: libmini/parallel/reducer.cpp
    static_cast<void>(use);
    for (size_t place = 0; place < slots_.size(); ++place)
        if (slots_[place].unused) tensor(place).set_grad(in_bucket(place));
