"""The translator, and the parts that only it has."""
