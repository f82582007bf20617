"""Prints the completion of lab, mini and minirun in a shell: <TAB> lists
commands and options. For this shell:

    source <(labs/lab completion bash)
    source <(labs/lab completion zsh)

To have it in every shell, add the printed lines to ~/.bashrc or ~/.zshrc.
"""

from lab_tool.places import ROOT
from lab_tool.screen import say

SCRIPT = ROOT / "libmini/tools/completion.bash"
PREFIX = {"bash": "", "zsh": "autoload -Uz bashcompinit && bashcompinit\n"}
MORE = "complete -o default -F _libmini_complete lab train_mnist cifar_resnet"


def add_arguments(parser):
    parser.add_argument("shell", choices=sorted(PREFIX), help="the shell")


def run(options):
    say(PREFIX[options.shell] + SCRIPT.read_text(encoding="utf-8") + MORE)
    return 0
