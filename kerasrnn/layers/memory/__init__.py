"""Recurrent cells whose memory is a matrix, written and read at every step."""
