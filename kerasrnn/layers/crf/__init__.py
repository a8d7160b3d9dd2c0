"""The conditional random field and its loss."""
