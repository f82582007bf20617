#include "libmini/extras/cudasim/pipeline.hpp"

#include <cstring>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/async_copy.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"

namespace mini::sim {

void start_copy(void* to, const void* from, size_t bytes, size_t zeros) {
    MINI_CHECK(bytes == 4 || bytes == 8 || bytes == 16,
               "__pipeline_memcpy_async copies 4, 8 or 16 bytes, not ", bytes);
    MINI_CHECK(zeros <= bytes, "__pipeline_memcpy_async: zfill is ", zeros,
               " bytes of a copy of ", bytes);
    const AsyncCopy copy{to, from, bytes, zeros,
                         instruction_before(__builtin_return_address(0))};
    note_copy_started(copy);
    std::memset(to, 0xff, bytes);
    async_copies().start(copy);
}

void commit_copies() { async_copies().commit(); }

void wait_for_copies(size_t groups) {
    const void* const address = instruction_before(__builtin_return_address(0));
    for (const AsyncCopy& copy : async_copies().take(groups)) {
        const size_t copied = copy.bytes - copy.zeros;
        std::memcpy(copy.to, copy.from, copied);
        std::memset(static_cast<char*>(copy.to) + copied, 0, copy.zeros);
        note_copy_landed(copy, address);
    }
}

}  // namespace mini::sim
