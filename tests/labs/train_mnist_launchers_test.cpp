// train_mnist under the launchers of libmini/extras/launchers.

#include <nlohmann/json.hpp>
#include <string>

#include "tests/labs/train_mnist_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/tools/job.hpp"

using namespace mini;
using namespace mini::test;

TEST_CASE("ranks connect through the environment variables of mpirun or srun") {
    const TinyMnist folder(60);
    const std::string job = " --steps 3 --batch-size 20 --json --data " + folder.path();
    const std::string variables = GENERATE(
        "SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=2 "
        "SLURM_JOB_NODELIST=localhost SLURM_STEP_NODELIST=localhost SLURM_NODEID=0 "
        "SLURM_LOCALID=$r SLURM_PROCID=$r ",
        "OMPI_MCA_ess_base_jobid=$$ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 "
        "OMPI_COMM_WORLD_LOCAL_RANK=$r OMPI_COMM_WORLD_RANK=$r ");
    // One shell starts both ranks, so that its process id $$ is their unique job id.
    const std::string rank = "env " + variables + kProgram + job;
    const ProcessResult ended = run_script(
        1,
        "unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR "
        "MASTER_PORT MINI_STORE_COOKIE TORCHELASTIC_RUN_ID; r=1; " +
            rank + " > /dev/null & r=0; " + rank + "; wait");
    CAPTURE(variables, ended.err);
    REQUIRE(ended.code == 0);
    const auto json = nlohmann::json::parse(lines(ended.out).back());
    CHECK(json.at("world_size") == 2);
    check_replicas(json.at("parameters_sha256"), 2);
}
