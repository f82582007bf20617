// --- closed-again
// A descriptor whose close reports an error is closed again.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0) fail(path_, "fsync");
    if (file_system().close(fd_) != 0) fail(path_, "close");
    fd_ = -1;
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- eintr-thrown
// An interrupted write is an error.
// region: libmini/io/file.cpp 2
    while (!bytes.empty()) {
        const ssize_t n = file_system().write(fd_, bytes);
        if (n < 0) fail(path_, "write");
        bytes = bytes.subspan(static_cast<size_t>(n));
    }

// --- einval-of-the-file
// The error of a folder's fsync that is none is none of the file's, either.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0 && errno != EINVAL) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- einval-thrown
// A file system that cannot sync folders is an error.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0;
    const int error_number = errno;
    file_system().close(fd);
    errno = error_number;
    if (!synced) fail(path, "fsync of its folder");

// --- errno-of-close
// The error of an fsync is reported with the errno of the close after it.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0 || errno == EINVAL;
    file_system().close(fd);
    if (!synced) fail(path, "fsync of its folder");

// --- file-not-synced
// The file is renamed before its contents are on disk.
// region: libmini/io/file.cpp 3
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- folder-not-synced
// The folder is opened, and never synced.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    file_system().close(fd);

// --- fsync-tried-again
// A failed fsync is repeated, and then believed.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0 && file_system().fsync(fd_) != 0)
        fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- interrupted-fsync-again
// An fsync that was interrupted is repeated, and then believed.
// region: libmini/io/file.cpp 3
    int failed = 0;
    while ((failed = file_system().fsync(fd_)) != 0 && errno == EINTR) {
    }
    if (failed != 0) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- old-file-removed-first
// The old file is removed before the rename.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    file_system().remove(path_);
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);

// --- one-write
// One write is taken to write everything.
// region: libmini/io/file.cpp 2
    if (file_system().write(fd_, bytes) < 0) fail(path_, "write");
