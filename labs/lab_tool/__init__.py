"""The tool behind labs/lab: one module for each verb, in lab_tool.verbs."""
