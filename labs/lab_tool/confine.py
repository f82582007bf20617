"""Limits on the processes that run a learner's code while `grade` judges it: another user, who cannot
write to the tool's files or signal the tool; a number of processes, which the system does not apply
to root; and the end of those that have left their group by setsid, after the lab's cases."""

import os
import pwd
import subprocess
from dataclasses import dataclass

from lab_tool.screen import LabError

PROCESSES = 1024  # a lab's largest case has about 100 threads


@dataclass(frozen=True)
class Confinement:
    user: str = ""  # "": the tool's own user
    processes: int = 0  # 0: no limit

    def command(self, command):
        """Returns the command, with the limits set before it starts."""
        limits = ["prlimit", f"--nproc={self.processes}", "--core=0", "--"]
        return limits * bool(self.processes) + command

    def options(self):
        """Returns the options of subprocess.Popen for the user."""
        if not self.user:
            return {}
        account = pwd.getpwnam(self.user)
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def check(self, program):
        """Raises LabError if the user cannot run a program, because of a folder's permissions."""
        if self.user and subprocess.run(["test", "-x", program], stderr=subprocess.DEVNULL,
                                        **self.options()).returncode:
            raise LabError(f"the user {self.user} cannot run {program}; clone libmini into a folder "
                           "that others may enter, such as /opt")

    def own(self, folder):
        """Gives a folder to the user."""
        if self.user:
            os.chown(folder, *(self.options()[name] for name in ("user", "group")))

    def end_processes(self):
        """Kills all processes of the user, if it is another one. Call it when no case runs."""
        if self.user:
            subprocess.run(["sh", "-c", "kill -KILL -1"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, **self.options())


FREE = Confinement()


def confined_to(user):
    """Returns the confinement of grades. Raises LabError if the user cannot be used."""
    if not user:
        return Confinement(processes=PROCESSES)
    if os.geteuid() != 0:
        raise LabError("--user needs root: only root can start processes of another user")
    try:
        if pwd.getpwnam(user).pw_uid == 0:
            raise LabError(f"--user {user} is root; name a user without rights")
    except KeyError:
        raise LabError(f"there is no user {user}; create it: useradd --system {user}") from None
    return Confinement(user, PROCESSES)
