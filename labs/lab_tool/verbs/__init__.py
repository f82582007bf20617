"""One module per verb of labs/lab; the table is in lab_tool.cli."""
