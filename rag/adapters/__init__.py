"""One outside vendor a file; imported by the factories of ``rag.wiring`` and nowhere else."""
