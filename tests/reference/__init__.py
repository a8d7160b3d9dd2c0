"""NumPy oracles, written from the equations and from nothing else."""
