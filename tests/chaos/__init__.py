"""A storm over the whole queue, and a checker that believes only what was written down outside it."""
