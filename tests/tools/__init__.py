"""The tools of playbooks, each against the real thing it calls."""
