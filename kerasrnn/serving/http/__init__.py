"""One process of the HTTP server: a model, its calls and their protocols."""
