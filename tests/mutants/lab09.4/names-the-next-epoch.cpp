// The warning names the epoch that should have come.
    if (warned_) return;
    log_repeated_epoch(epoch_ + 1);
    warned_ = true;
