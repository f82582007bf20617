// The last contribution replaces those before.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        total = std::move(contribution);
