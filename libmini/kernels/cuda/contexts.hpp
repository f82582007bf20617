// A thread's current device, and the devices that its process has opened.
//
// The first call on a device opens a context there. A context takes some hundred
// megabytes, and cannot be opened on a device in exclusive mode that another process
// uses. A thread starts on device 0, so a thread that switches to device 3 and back would
// open device 0 unnecessarily, in each of the eight processes of a host. Here a thread
// switches back only to a device that is open already. Otherwise the switch is postponed:
// current_device() reports the device, but cudaSetDevice is called only when the thread
// next makes a device current.

#pragma once

namespace mini::cuda {

/// Returns the calling thread's current device, which may be the target of a postponed
/// switch (`torch.cuda.current_device`).
int current_device();

/// Makes a device current by cudaSetDevice, and returns the previous current_device().
int exchange_device(int device);

/// Makes a device current again: immediately if the process has opened the device, else
/// by a postponed switch.
void return_to_device(int device) noexcept;

/// Returns a device that is open, the thread's current device if possible. If no device
/// is open, returns the current device.
int open_device();

/// Records that this process has made a CUDA call (is_initialized() of gpu.hpp).
void note_initialized();

}  // namespace mini::cuda
