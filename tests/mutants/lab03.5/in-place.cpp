// A contribution is added in place to one that others use.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        if (total.defined())
            ops::add_(total, contribution);
        else
            total = std::move(contribution);
