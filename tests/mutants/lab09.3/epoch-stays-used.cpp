// set_epoch forgets that the new epoch is unused, and a warning comes for nothing.
// region: libmini/data/distributed_sampler.cpp 2
    epoch_ = epoch;
