"""Settings of recipes, and the command lines that set them."""
