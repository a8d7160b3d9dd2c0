"""The process of a model in the HTTP server: calls and protocols."""
