#!/bin/sh
# with_own_tmpdir.sh COMMAND ...: runs COMMAND with an empty $TMPDIR, which is removed afterwards.
#
# Every mpirun of Open MPI 4 keeps its files in $TMPDIR/ompi.HOST.UID. The last mpirun to exit
# removes that folder, and an mpirun that starts at this moment fails: "mkdir ... File exists".
folder=$(mktemp -d) || exit 1
TMPDIR=$folder "$@"
code=$?
rm -rf "$folder"
exit $code
