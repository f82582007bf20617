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
