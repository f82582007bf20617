// The caller runs the operation itself, and blocks.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    std::exception_ptr error;
    try {
        operation(transport_);
    } catch (...) {
        error = std::current_exception();
    }
    work->complete(error);
    return work;
