// An undefined contribution erases the sum.
// region: libmini/autograd/engine.cpp 3
        total = total.defined() && contribution.defined()
                    ? ops::add(total, contribution) : std::move(contribution);
