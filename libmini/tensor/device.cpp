#include "libmini/tensor/device.hpp"

#include <charconv>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/kernels/gpu.hpp"

namespace mini {
namespace {

thread_local Device default_of_thread;

// Parses the index in ":1"; returns 0 for an empty text and -1 for an invalid index.
int index_of(std::string_view text) {
    if (text.empty()) return 0;
    int index = -1;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, index);
    const bool is_number = text[0] == ':' && read.ec == std::errc() && read.ptr == end;
    return is_number ? index : -1;
}

}  // namespace

Device Device::parse(std::string_view text) {
    const std::string_view type = text.substr(0, text.find(':'));
    const int index = index_of(text.substr(type.size()));
    if ((type != "cpu" && type != "cuda") || index < 0)
        throw UsageError("device: '", text,
                         "' is not a device; use for example cpu, cuda or cuda:1");
    if (type == "cpu") return cpu(index);
    if (index >= cuda_device_count())
        throw UsageError("device: there is no ", text, "; ", cuda_device_count_text());
    return cuda(index);
}

Device default_device() { return default_of_thread; }
void set_default_device(Device device) { default_of_thread = device; }

int cuda_device_count() { return cuda::device_count(); }

bool cuda_is_simulated() {
    return cuda_device_count() > 0 && cuda::device_name(0) == "simulated device";
}

std::string cuda_device_count_text() { return cuda::device_count_text(); }

void synchronize(Device device) {
    if (device.is_cuda()) cuda::synchronize(device.index);
}

}  // namespace mini
