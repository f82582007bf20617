"""labs/lab bench: libmini compared with its peers. labs/lab_tool/verbs/bench.py is the command."""
