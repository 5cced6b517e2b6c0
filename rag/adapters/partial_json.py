"""Reads JSON that is still arriving, with jiter (the parser that comes with the openai SDK).

>>> read('{"sentences": [{"text": "Done."}, {"text": "Not yet', partial=True)
{'sentences': [{'text': 'Done.'}, {}]}
"""

from __future__ import annotations

import jiter


def read(text: str, partial: bool = False) -> object:
    """Parse ``text``; with ``partial``, what is complete of it.

    Raises:
        ValueError: no JSON, with the place of the error.
    """
    return jiter.from_json(text.encode("utf-8", "replace"), partial_mode=partial)
