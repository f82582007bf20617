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
