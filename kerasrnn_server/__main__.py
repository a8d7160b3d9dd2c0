"""`python -m kerasrnn_server` starts the server, as `kerasrnn-serve` does."""

from kerasrnn_commands.scripts import serve as main

if __name__ == "__main__":
    main()
