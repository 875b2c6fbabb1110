"""What one state tells: the public calls on a model."""
