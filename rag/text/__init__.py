"""Reading text without any model: sentences, numbers, names, directions. Standard library only."""
