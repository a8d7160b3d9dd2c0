"""What runs the time steps of any cell, forward and backward."""
