"""Piano rolls and MIDI files."""
