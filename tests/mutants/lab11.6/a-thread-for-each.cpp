// Each operation gets a thread of its own: their order is lost.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    std::thread([this, work, operation = std::move(operation)] {
        std::exception_ptr error;
        try {
            operation(transport_);
        } catch (...) {
            error = std::current_exception();
        }
        work->complete(error);
    }).detach();
    return work;
