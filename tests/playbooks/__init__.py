"""Playbooks of several steps: their graph, their executions, and who may move them."""
