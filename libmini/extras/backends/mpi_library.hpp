// MPI in this process: initialized once; finalized once, unless a group has failed.

#pragma once

#include <atomic>
#include <memory>
#include <vector>

namespace mini::dist {

class MpiLibrary {
  public:
    /// Initializes MPI if it is not initialized. Throws Error if MPI allows calls from
    /// only one thread.
    MpiLibrary();

    /// Finalizes MPI if this object has initialized MPI and give_up() was not called.
    ~MpiLibrary();

    /// Marks MPI as failed: from now on no group can be created, and MPI is not
    /// finalized. Keeps `in_use`, memory that MPI may still access, until the process
    /// exits.
    void give_up(std::shared_ptr<void> in_use = nullptr);
    bool has_failed() const { return has_failed_; }

  private:
    bool is_ours_ = false;
    std::atomic<bool> has_failed_ = false;
    std::vector<std::shared_ptr<void>> in_use_;
};

/// Returns the MpiLibrary of this process, created by the first call.
MpiLibrary& mpi_library();

}  // namespace mini::dist
