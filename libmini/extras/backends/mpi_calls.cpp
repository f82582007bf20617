#include "libmini/extras/backends/mpi_calls.hpp"

#include <cstddef>
#include <stdexcept>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {
namespace {

template <DType dtype, ReduceOp op>
void combine_for_mpi(void* theirs, void* mine, int* count, MPI_Datatype*) {
    combine_for(dtype, op).apply(static_cast<std::byte*>(mine),
                                 static_cast<const std::byte*>(theirs),
                                 static_cast<size_t>(*count));
}

template <DType dtype>
MPI_User_function* function_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum:
        case ReduceOp::kAvg: break;
        case ReduceOp::kProduct: return &combine_for_mpi<dtype, ReduceOp::kProduct>;
        case ReduceOp::kMin: return &combine_for_mpi<dtype, ReduceOp::kMin>;
        case ReduceOp::kMax: return &combine_for_mpi<dtype, ReduceOp::kMax>;
    }
    return &combine_for_mpi<dtype, ReduceOp::kSum>;
}

}  // namespace

void check_mpi(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw std::runtime_error(concat(call, ": ", text));
}

bool is_done(MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

MPI_Datatype mpi_type_of(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return MPI_FLOAT;
        case DType::kInt64: return MPI_INT64_T;
        case DType::kUInt8: return MPI_UINT8_T;
        case DType::kFloat16:
        case DType::kBFloat16: break;
    }
    return MPI_UINT16_T;  // only our own reductions interpret these bits
}

MPI_User_function* mpi_function_of(DType dtype, ReduceOp op) {
    switch (dtype) {
        case DType::kFloat32: break;
        case DType::kInt64: return function_of<DType::kInt64>(op);
        case DType::kUInt8: return function_of<DType::kUInt8>(op);
        case DType::kFloat16: return function_of<DType::kFloat16>(op);
        case DType::kBFloat16: return function_of<DType::kBFloat16>(op);
    }
    return function_of<DType::kFloat32>(op);
}

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

MpiLibrary& mpi_library() {
    static MpiLibrary library;
    return library;
}

}  // namespace mini::dist
