// The part of NCCL's header that libmini uses, for fake_nccl.cpp, with which backend nccl
// runs on the simulator, without a GPU. The names are NCCL's; the enumerators' values may
// differ.

#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <vector>

struct ncclComm;
using ncclComm_t = ncclComm*;

struct ncclUniqueId {
    char internal[128];
};

struct ncclConfig_t {
    int blocking = 1;
};
#define NCCL_CONFIG_INITIALIZER \
    {}

enum ncclResult_t { ncclSuccess, ncclInvalidUsage, ncclRemoteError, ncclInProgress };
enum ncclDataType_t { ncclFloat32, ncclInt64, ncclUint8, ncclFloat16, ncclBfloat16 };
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };

ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int world_size, ncclUniqueId id,
                                    int rank, ncclConfig_t* config);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);

/// Returns the communicator's number of each operation that was launched on `device`, in
/// launch order.
std::vector<uint64_t> fake_nccl_launches(int device);

/// The numbers of communicators freed by ncclCommAbort and by ncclCommDestroy.
extern std::atomic<int> fake_nccl_aborted, fake_nccl_destroyed;
