#include "libmini/extras/backends/nccl_collective.hpp"

namespace mini::dist {

NcclCollective::NcclCollective(int device)
    : device_(device), events_(new Events{cuda::Event(device), cuda::Event(device)}) {
    events_->begin.record(cuda::current_stream(device));
}

void NcclCollective::wait_on_stream() const {
    const cuda::DeviceGuard guard(device_);
    events_->end.wait(cuda::current_stream(device_));
}

std::function<bool()> NcclCollective::when_begun() const {
    return [events = events_] { return events->begin.query(); };
}

}  // namespace mini::dist
