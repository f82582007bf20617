// `use` is read in each pass, also where it is empty.
// region: libmini/parallel/reducer.cpp
    for (size_t place = 0; place < slots_.size(); ++place)
        if (use[place] > 0) tensor(place).set_grad(in_bucket(place));
