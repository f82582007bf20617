// Where a thread is, and which devices its process has opened.
//
// The first call on a device opens a context there, which takes some hundred megabytes
// and, where a device is for one process alone, fails if it is another's. A thread begins
// on device 0; so a thread that goes to device 3 and back again opens device 0 for
// nothing, in each of eight processes of a host. Here a thread goes back only to a device
// that is open anyway; else it goes back in name, and in fact when it next enters that
// device.

#pragma once

namespace mini::cuda {

/// The device that the calling thread is on, in name (`torch.cuda.current_device`).
int current_device();

/// Goes to a device, in name and in fact, and returns where the thread was in name.
int exchange_device(int device);

/// Goes back to where it was: in fact if the process has opened that.
void return_to_device(int device) noexcept;

/// A device that is open, the thread's own if that is one; where none is, the thread's.
int open_device();

/// Notes the device of this thread's rank: from now on this thread is warned when it
/// opens a context on another one.
void note_device_of_rank(int device);

/// Whether this process has asked CUDA for anything (`torch.cuda.is_initialized`). A
/// forked process could not use CUDA any more.
bool is_initialized();

/// Notes that it has.
void note_initialized();

}  // namespace mini::cuda
