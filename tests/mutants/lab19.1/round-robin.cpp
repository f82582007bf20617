// Parameters are dealt out like cards, whatever their sizes.
    for (size_t i = 0; i < sizes.size(); ++i)
        owners[i] = static_cast<int>(i) % world_size;
