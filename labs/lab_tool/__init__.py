"""The tool behind labs/lab; lab_tool.verbs has one module per verb."""
