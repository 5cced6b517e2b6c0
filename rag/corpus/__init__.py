"""Files to ``Paper`` records: found, recognised by content, read, cleaned, named.

discover(paths)  -> the files            read(path)  -> papers and failures
keys, identity   -> which are the same   sample()    -> the bundled corpus
"""

from rag.corpus.files import STDIN, discover, sample
from rag.corpus.read import Description, describe, read

__all__ = ["STDIN", "Description", "describe", "discover", "read", "sample"]
