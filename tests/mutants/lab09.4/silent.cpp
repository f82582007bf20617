// There is no warning.
    warned_ = true;
