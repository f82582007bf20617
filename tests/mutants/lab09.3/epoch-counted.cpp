// set_epoch goes to the next epoch, whatever it is told, so a resumed job differs.
// region: libmini/data/distributed_sampler.cpp 3
    epoch_ += epoch > 0 ? 1 : 0;
    epoch_used_ = false;
