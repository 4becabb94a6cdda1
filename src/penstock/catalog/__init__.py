"""Catalog files: `kind: Playbook` and `kind: Subscription`, read, checked and explained."""
