// set_epoch forgets that the new epoch is unused, and a warning comes for nothing.
// region: libmini/data/distributed_sampler.cpp 3
    epoch_ = epoch;
