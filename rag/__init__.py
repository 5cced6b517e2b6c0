"""citerag: answers over a pile of paper abstracts, every sentence checked against the paper it cites."""

__version__ = "0.1.0"
