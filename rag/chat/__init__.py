"""Conversations with the pile: the session store, the commands, and what a person types into.

``conversation`` is the heart and knows no terminal; ``store`` keeps what was said as it is said; ``screen``
and ``pipe`` are its two faces. Only ``screen`` imports prompt_toolkit.
"""
