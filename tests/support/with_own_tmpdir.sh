#!/bin/sh
# with_own_tmpdir.sh COMMAND ...: runs COMMAND with a new, empty $TMPDIR, and removes it afterwards.
#
# Every mpirun of Open MPI 4 keeps its files in $TMPDIR/ompi.HOST.UID. The last mpirun to exit
# removes this folder, and another mpirun that starts then fails: "mkdir ... File exists".
folder=$(mktemp -d) || exit 1
TMPDIR=$folder "$@"
code=$?
rm -rf "$folder"
exit $code
