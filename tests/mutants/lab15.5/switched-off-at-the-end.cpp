// Averaging is switched off when the object is destroyed, not when it is made.
    const bool previous = sync_;
    return NoSync([this, previous] { sync_ = !previous; });
