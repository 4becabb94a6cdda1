"""Where messages come from: one client per file, without Spark."""

import os

# gRPC's handlers at a fork abort the child now and then while other threads pull. We start programs beside such threads
# (a tool's code, a server) and never go on in a forked child, so the handlers serve nothing here. It is read when gRPC
# is loaded: before any file of this package does.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
