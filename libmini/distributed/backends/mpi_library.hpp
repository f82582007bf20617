// MPI in this process: started once, and ended once, unless something has failed.

#pragma once

#include <atomic>
#include <memory>
#include <vector>

namespace mini::dist {

class MpiLibrary {
  public:
    /// Starts MPI, unless it runs. Throws Error when it allows calls from one thread only.
    MpiLibrary();

    /// Ends MPI if it was started here, unless it was given up.
    ~MpiLibrary();

    /// From here on MPI is not called any more; what it may still touch stays.
    void give_up(std::shared_ptr<void> in_use = nullptr);
    bool has_failed() const { return has_failed_; }

  private:
    bool is_ours_ = false;
    std::atomic<bool> has_failed_ = false;
    std::vector<std::shared_ptr<void>> in_use_;
};

/// This process's, started at the first call.
MpiLibrary& mpi_library();

}  // namespace mini::dist
