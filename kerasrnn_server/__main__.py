"""`python -m kerasrnn_server` starts the server, as `kerasrnn-serve` does."""

from kerasrnn_commands.scripts import serve

if __name__ == "__main__":
    serve()
