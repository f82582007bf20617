#include "libmini/extras/backends/mpi_library.hpp"

#include <mpi.h>

#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/extras/backends/mpi_types.hpp"

namespace mini::dist {

MpiLibrary::MpiLibrary() {
    int is_initialized = 0, threads = MPI_THREAD_SINGLE;
    check_mpi(MPI_Initialized(&is_initialized), "MPI_Initialized");
    if (is_initialized) {
        check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
    } else {
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads),
                  "MPI_Init_thread");
        is_ours_ = true;
    }
    MINI_CHECK(threads >= MPI_THREAD_SERIALIZED,
               "this MPI allows calls from one thread only, but each group has its own "
               "thread; MPI must support MPI_THREAD_SERIALIZED");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

MpiLibrary::~MpiLibrary() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_ours_ && !has_failed_ && !is_over) MPI_Finalize();
}

void MpiLibrary::give_up(std::shared_ptr<void> in_use) {
    has_failed_ = true;
    if (in_use) in_use_.push_back(std::move(in_use));
}

MpiLibrary& mpi_library() {
    static MpiLibrary library;
    return library;
}

}  // namespace mini::dist
