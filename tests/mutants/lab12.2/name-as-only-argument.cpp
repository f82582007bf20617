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
