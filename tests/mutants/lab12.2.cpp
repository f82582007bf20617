// --- blocks-nothing-more
// Blocks no further signal, instead of unblocking all.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_BLOCK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- both-to-stdout
// stderr goes to the pipe of stdout.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.out, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- does-not-wait
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

// --- dup2-arguments-swapped
// The arguments of dup2 are swapped.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(STDOUT_FILENO, startup.out);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- environment-of-minirun
// The program gets minirun's environment.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvp(startup.arguments[0], startup.arguments);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- errno-after-close
// errno is read after another call has changed it.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    close(-1);
    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- failure-not-reported
// A failed exec is not reported.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)reason;

// --- group-not-killed
// The processes that the rank has started are left.
// region: libmini/tools/minirun/child.cpp 2
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};

// --- joins-the-parents-group
// The child joins the group of its parent.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, getpgid(startup.parent));

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- mask-kept
// The signal mask is kept: the rank cannot be stopped.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- name-as-only-argument
// The arguments are not passed on.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    char* name_only[] = {startup.arguments[0], nullptr};
    execvpe(startup.arguments[0], name_only, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- no-group-of-its-own
// The child stays in minirun's process group.
// region: libmini/tools/minirun/child.cpp 1
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- no-search-in-path
// The program is not searched in PATH.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execve(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- pid-kept
// The pid is kept after the rank is reaped.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(pid_, &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};

// --- reaped-before-the-group-is-killed
// The rank is reaped first; then its group has no number any more.
// region: libmini/tools/minirun/child.cpp 2
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    kill_group();
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};

// --- reports-one-byte
// Only one byte of errno is written.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, 1);

// --- shells-exit-code
// A signal is reported as 128 + signal.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = 128 + WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};

// --- signal-as-exit-code
// A signal is reported as an exit code.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return {.by_signal = false, .number = WEXITSTATUS(status)};

// --- status-as-exit-code
// The whole status is taken for the exit code.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = status};

// --- stdin-inherited
// The program reads minirun's stdin.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));

// --- stdout-and-stderr-swapped
// stdout and stderr are swapped.
// region: libmini/tools/minirun/child.cpp 1
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.err, STDOUT_FILENO);
    dup2(startup.out, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));
