"""Linear-chain conditional random fields."""
