"""Papers to an index on disk and back: records and passages in SQLite, from which everything else follows."""
