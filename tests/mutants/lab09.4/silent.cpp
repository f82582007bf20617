// Nobody is told.
    warned_ = true;
