// Does not reap: the rank stays a zombie.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(std::exchange(pid_, -1)), &info, WEXITED | WNOWAIT);
    if (info.si_code != CLD_EXITED) return {.by_signal = true, .number = info.si_status};
    return {.by_signal = false, .number = info.si_status};
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
