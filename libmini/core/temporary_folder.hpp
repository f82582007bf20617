// The folder for temporary files, and private folders in it.

#pragma once

#include <string>

namespace mini {

/// Returns the absolute path of the first folder in which this process may create files:
/// TMPDIR, TEMP, TMP (variables that are empty or name no such folder are skipped), /tmp,
/// /var/tmp, /usr/tmp, the working directory (Python's `tempfile.gettempdir`). A job
/// script may copy TMPDIR from another machine. Throws Error if there is none.
std::string temporary_folder();

/// Creates a folder in temporary_folder() that only this user can read and write; its
/// name is `name` and a random suffix. Returns its path. Throws Error.
std::string new_private_folder(const std::string& name);

}  // namespace mini
