// The environment variables that a rendezvous reads.

#pragma once

#include <stdlib.h>

namespace mini::dist::test {

/// Unsets the variables of launchers and of libmini, at the start and at the end.
class Environment {
  public:
    Environment() { clear(); }
    ~Environment() { clear(); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    void set(const char* name, const char* value) { ::setenv(name, value, 1); }

  private:
    static void clear() {
        for (const char* name :
             {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
              "MASTER_PORT", "MINI_STORE_COOKIE", "MINI_RUN_ID", "MINI_ADVERTISE_ADDR",
              "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE",
              "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
              "OMPI_MCA_ess_base_jobid"})
            ::unsetenv(name);
    }
};

}  // namespace mini::dist::test
