"""Records -> terminal text, plain text, Markdown, JSON, BibTeX; one format a file.

``safe`` stands between the pile's text and the reader: what abstracts carry is data, never a command to the
terminal, to Rich, to a Markdown viewer or to LaTeX. ``contract`` is the JSON that scripts rely on.
"""
