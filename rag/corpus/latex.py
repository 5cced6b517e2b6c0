r"""One piece of LaTeX to readable Unicode, with a guard: what would lose a letter or a digit stays as it was.

>>> piece(r"R^2 \geq 0.9", math=True)
'R² ≥ 0.9'
>>> piece(r"\mathcal{O}(T^{1/2}\log\log T)", math=True)
'O(T^(1/2) log log T)'

pylatexenc does the work on single pieces only. On running text it has traps: a bare ``%`` eats the rest of
the line, ``$5 and $10`` becomes mathematics, unknown macros vanish. ``rag.corpus.markup`` finds the pieces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from pylatexenc import latex2text, latexwalker, macrospec

from rag.text.words import word_set

# pylatexenc drops or disfigures these; "%s" is the argument. \SI of siunitx even raises there.
WRAPPERS = word_set(
    "mathcal mathbf mathrm mathit mathsf mathtt mathnormal boldsymbol bm bold pmb texttt textsc textup",
    "textsl textmd textrm textsf textnormal mathop operatorname ensuremath underline uline emph hbox",
    "mbox fbox textbf textit text num small",
)
_FORMS = {
    **dict.fromkeys(WRAPPERS, ("{", "%s")),
    "sqrt": ("[{", None),
    "frac": ("{{", None),
    "tfrac": ("{{", None),
    "dfrac": ("{{", None),
    "nicefrac": ("{{", None),
    "binom": ("{{", "C(%(1)s, %(2)s)"),
    "SI": ("[{{", "%(2)s %(3)s"),
    "qty": ("[{{", "%(2)s %(3)s"),
    "si": ("[{", "%(2)s"),
    "unit": ("[{", "%(2)s"),
    "cite": ("*[[{", "[%(4)s]"),
    "citep": ("*[[{", "[%(4)s]"),
    "citet": ("*[[{", "[%(4)s]"),
    "ref": ("{", "%s"),
    "eqref": ("{", "(%s)"),
    "label": ("{", "%s"),
    "footnote": ("{", " (%s)"),
    "textcolor": ("{{", "%(2)s"),
    "overset": ("{{", "%(2)s^(%(1)s)"),
    "underset": ("{{", "%(2)s_(%(1)s)"),
}
SWITCHES = word_set("rm it bf sc sf tt sl em cal rmfamily bfseries itshape ttfamily small")
_SILENT = word_set(
    "displaystyle textstyle limits nolimits xspace noindent newline linebreak centering protect hfill",
    "newpage smallskip medskip bigskip null relax normalfont par",
)
_STRUCTURE = frozenset(("begin", "end", "left", "right", "item", "par"))
_SYMBOLS = {
    **dict.fromkeys((*SWITCHES, *_SILENT), ""),
    "sim": "~",
    "S": "§",
    "P": "¶",
    "circ": "∘",
    "ldots": "…",
    "dots": "…",
    "cdots": "…",
    "lVert": "‖",
    "rVert": "‖",
    "lvert": "|",
    "rvert": "|",
    "quad": " ",
    "qquad": " ",
    "degree": "°",
    "epsilon": "ε",
    "colon": ":",
    "|": "‖",
    "textasciitilde": "~",
    "textpm": "±",
    "texttimes": "×",
    "bmod": " mod ",
}
_RAISED = dict(zip("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ", strict=True)) | {"−": "⁻"}
_LOWERED = dict(zip("0123456789+-()", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎", strict=True))
_WHOLE = {r"\circ": "°", r"\prime": "′", r"\top": "ᵀ", r"\dagger": "†", "th": "th", "st": "st", "nd": "nd"}

_SCRIPT = re.compile(
    r"(?<!\\)([\^_])\s*(?:\{((?:[^{}\\]|\\.|\{[^{}]*\})*)\}|(\\[A-Za-z]+(?:\{[^{}]*\})?|[^\s\\{}^_]))"
)
_FUNCTION = re.compile(
    r"\\(log|ln|exp|sin|cos|tan|min|max|sup|inf|arg|det|dim|ker|lim|poly|Pr|gcd)(?![A-Za-z])\s*(?=[\\A-Za-z])"
)
_MACRO = re.compile(r"\\([A-Za-z]+)\*?(\s*\{(?!\s*\})|\s+)?")
_COLOUR = re.compile(r"\\(?:text)?color\s*\{[A-Za-z!]+\}")
_MACRO_NAME = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z@]+\*?")
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,;!]|\{,\}|\\thinspace\s?)(?=\d{3}(?!\d))")


def piece(source: str, *, math: bool = False) -> str:
    """Return ``source``, a formula's body or a macro with its arguments, as readable text.

    Returns ``source`` itself where the conversion fails or would lose letters or digits.
    """
    source = _COLOUR.sub("", source)
    prepared = _MACRO.sub(_macro, _THOUSANDS.sub(",", source))
    prepared = re.sub(r"(?<!\\)([%#])", r"\\\1", prepared)
    if math:
        prepared = _formula(prepared)
    try:
        text = _convert(prepared, math)
    except (latexwalker.LatexWalkerError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return source  # pylatexenc raises all of these on malformed macros
    text = re.sub(r"[ \t\xa0]+", " ", text)
    text = re.sub(r"^~ (?=\d)", "~", text)
    return text if not _loses(source, text) else source


def is_known(macro: str) -> bool:
    """Whether pylatexenc (or this file) has a text for ``macro`` (a name without its backslash)."""
    return macro in _STRUCTURE or _text_context().get_macro_spec(macro) is not None


def digits(text: str) -> str:
    """Return the digits of ``text`` in order; a superscript or subscript digit counts as its digit."""
    return "".join(str(unicodedata.digit(c)) for c in text if unicodedata.digit(c, None) is not None)


def _convert(source: str, math: bool) -> str:
    walker = latexwalker.LatexWalker(source, latex_context=_parse_context(), tolerant_parsing=True)
    state = walker.make_parsing_state(in_math_mode=True) if math else walker.make_parsing_state()
    nodes = walker.get_latex_nodes(parsing_state=state)[0]
    renderer = latex2text.LatexNodes2Text(
        latex_context=_text_context(), math_mode="text", keep_braced_groups=False
    )
    return str(renderer.nodelist_to_text(nodes))


def _loses(source: str, text: str) -> bool:
    if digits(source) != digits(text):
        return True
    wanted = _letters(_MACRO_NAME.sub(" ", source))
    found = iter(_letters(text))
    return not all(letter in found for letter in wanted)


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if c.isalpha())


def _formula(body: str) -> str:
    """Write out what pylatexenc runs together: scripts, primes, and spaces around function names."""
    body = _scripts(body).replace(r"\left.", "").replace(r"\right.", "")
    body = _FUNCTION.sub(r"\\\1\\ ", body.replace("''", "″").replace("'", "′"))
    return re.sub(r"(?<=[\w)}])(?=\\(?:log|ln|exp)\b)", r"\\ ", body)


def _macro(match: re.Match[str]) -> str:
    """Keep an unknown macro's argument, or its name where it has none: ``\\ours`` is mostly a system's name.

    The space behind a known symbol is written ``\\ ``, since LaTeX and pylatexenc swallow a plain one.
    """
    name, after = match[1], match[2] or ""
    if not is_known(name):
        return after if after.endswith("{") else f"{name}{after}"
    return match[0].rstrip() + "\\ " if after.isspace() and not _takes_arguments(name) else match[0]


def _takes_arguments(name: str) -> bool:
    spec = _parse_context().get_macro_spec(name)
    return name in _STRUCTURE or bool(spec is not None and spec.args_parser.argspec)


def _scripts(source: str) -> str:
    """Turn ``^{...}`` and ``_{...}`` into Unicode where it has the characters, else into ``^(...)``."""
    for _ in range(3):  # innermost first; deeper nesting than this is not readable in a line anyway
        source, changed = _SCRIPT.subn(_script, source)
        if not changed:
            break
    return source.replace("\ue000", "^").replace("\ue001", "_{}")


def _script(match: re.Match[str]) -> str:
    kind, body = match[1], (match[2] if match[2] is not None else match[3]).strip()
    plain = re.sub(r"^\\(?:text|mathrm|rm|textrm)\s*\{([^{}]*)\}$", r"\1", body).strip()
    table = _RAISED if kind == "^" else _LOWERED
    if kind == "^" and plain in _WHOLE:
        return _WHOLE[plain]
    if plain and all(c in table for c in plain):
        return "".join(table[c] for c in plain)
    sign = "\ue000" if kind == "^" else "\ue001"
    if re.fullmatch(r"\w+|\\[A-Za-z]+|[*'+-]|", plain):
        return f"{sign}{plain}" + (" " if plain.startswith("\\") else "")
    return f"{sign}({body})"


def _fraction(node: latexwalker.LatexMacroNode, l2tobj: latex2text.LatexNodes2Text) -> str:
    above, below = (_grouped(l2tobj.nodelist_to_text([arg])) for arg in node.nodeargd.argnlist[-2:])
    return f"{above}/{below}"


def _root(node: latexwalker.LatexMacroNode, l2tobj: latex2text.LatexNodes2Text) -> str:
    degree, body = node.nodeargd.argnlist
    sign = "√" if degree is None else f"{l2tobj.nodelist_to_text([degree])}√"
    text = l2tobj.nodelist_to_text([body]).strip()
    return sign + (text if re.fullmatch(r"\w|[\d.]*", text) else f"({text})")


def _grouped(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"[\w.]*", text) else f"({text})"


@cache
def _parse_context() -> macrospec.LatexContextDb:
    context = latexwalker.get_default_latex_context_db()
    specs = [macrospec.std_macro(name, form) for name, (form, _) in _FORMS.items()]
    context.add_context_category("citerag", prepend=True, macros=specs)
    return context


@cache
def _text_context() -> macrospec.LatexContextDb:
    context = latex2text.get_default_latex_context_db()
    own = {"sqrt": _root, "frac": _fraction, "tfrac": _fraction, "dfrac": _fraction, "nicefrac": _fraction}
    specs = [latex2text.MacroTextSpec(name, own.get(name, repl)) for name, (_, repl) in _FORMS.items()]
    specs += [latex2text.MacroTextSpec(name, repl) for name, repl in _SYMBOLS.items()]
    context.add_context_category("citerag", prepend=True, macros=specs)
    return context
