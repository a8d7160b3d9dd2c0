"""What runs the steps of any cell, and their gradient."""
