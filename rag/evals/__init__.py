"""Scores of the chain against a gold set: cases, metrics, statistics, recordings, runs, reports."""
