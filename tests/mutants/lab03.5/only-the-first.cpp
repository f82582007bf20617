// Contributions after the first are dropped.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        total = total.defined() ? total : std::move(contribution);
