"""Trainings that continue where they were interrupted."""
