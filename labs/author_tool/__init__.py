"""What authors of labs and instructors use, behind labs/lab dev: the check of the labs themselves, and
the export of a course. A learner's copy of the course has only lab_tool."""
