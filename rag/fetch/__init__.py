"""Papers from the services that publish them, into plain JSON lines that ``rag ingest`` reads.

    report = fetch(ArXiv(service, query="all:retrieval", most=500), Path("retrieval.jsonl"))

source        what a service is to the rest         arxiv, openreview, semantic_scholar  the services
partial       the file while it grows, resumable    run                                  the whole story
"""

from rag.fetch.arxiv import ArXiv
from rag.fetch.openreview import OpenReview
from rag.fetch.run import Report, fetch
from rag.fetch.semantic_scholar import SemanticScholar

__all__ = ["ArXiv", "OpenReview", "Report", "SemanticScholar", "fetch"]
