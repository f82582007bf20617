// The warning comes in every epoch.
    log_repeated_epoch(epoch_);
