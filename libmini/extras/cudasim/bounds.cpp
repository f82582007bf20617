// The function that checked kernels call before an access to an array with an index that is too
// large or negative (-fsanitize=bounds): it finds accesses outside of a thread's own arrays, and
// from one shared array into another.

#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/hooks.hpp"

namespace {

// What the compiler says of a type: an integer has 2^(info / 2) bits, and a sign if info is odd.
struct Type {
    uint16_t kind, info;
    char name[1];  // up to a zero
};
struct Access {
    const char* file;
    uint32_t line, column;
    const Type *array, *index;
};

}  // namespace

extern "C" void __ubsan_handle_out_of_bounds(const Access* access, uintptr_t index) {
    if (!mini::sim::is_inspected()) return;
    const int unused = 64 - (1 << (access->index->info >> 1));
    const bool is_signed = (access->index->info & 1) != 0;
    mini::sim::tell::index(
        mini::concat("uses the index ",
                     is_signed ? static_cast<int64_t>(index << unused) >> unused
                               : static_cast<int64_t>(index),
                     " of an array of type ", access->array->name),
        mini::sim::instruction_before(__builtin_return_address(0)));
}
