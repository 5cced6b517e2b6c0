"""Files to ``Paper`` records: found, recognised by content, read, cleaned, named.

    discover(paths)  -> the files            read(path)      -> papers and failures
    describe(path)   -> format and first records

``keys`` and ``identity`` say how a paper is called and which records are one paper, ``catalog`` finds titles.
"""

from rag.corpus.files import STDIN, discover, is_pipe
from rag.corpus.read import Description, describe, read

__all__ = ["STDIN", "Description", "describe", "discover", "is_pipe", "read"]
