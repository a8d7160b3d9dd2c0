"""Words with tags."""
