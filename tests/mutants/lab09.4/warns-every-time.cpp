// The warning comes in every epoch.
    logging::warning("DistributedSampler: epoch ", epoch_,
                     " is given out again, in the same order; call set_epoch(epoch) "
                     "before each epoch");
