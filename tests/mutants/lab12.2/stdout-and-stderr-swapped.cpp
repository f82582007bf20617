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
