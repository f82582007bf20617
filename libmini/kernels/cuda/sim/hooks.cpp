// What the instrumentation of kernels calls: one function for each kind of load and store.

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define MINI_HOOK(size)              \
    void __tsan_read##size(void*) {} \
    void __tsan_write##size(void*) {}
MINI_HOOK(1)
MINI_HOOK(2)
MINI_HOOK(4)
MINI_HOOK(8)
MINI_HOOK(16)
void __tsan_read_range(void*, long) {}
void __tsan_write_range(void*, long) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
