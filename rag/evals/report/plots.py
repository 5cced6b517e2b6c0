"""Small plots as inline SVG: lines on a unit square, and a mean with its interval on a bar.

>>> lines([Line("A", "#2f5fd0", [(0.0, 0.0), (1.0, 0.5)])], x="coverage", y="risk")[:4]
'<svg'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

W, H, LEFT, BOTTOM, TOP, RIGHT = 440, 280, 58, 40, 12, 14
A, B, INK = "#2f5fd0", "#c2571a", "#1c2430"


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; ``dots`` marks each of them."""

    name: str
    colour: str
    points: Sequence[tuple[float, float]]
    dots: bool = False


def lines(
    drawn: Sequence[Line],
    *,
    x: str,
    y: str,
    span: tuple[float, float] = (0.0, 1.0),
    top: float = 1.0,
    ticks: Sequence[tuple[float, str]] = (),
    bar: tuple[float, str] | None = None,
) -> str:
    """Draw lines over x in ``span`` and y in [0, ``top``], and a dashed horizontal ``bar`` (value, label)."""
    across = ticks or [(v, f"{v:.0%}") for v in (0.0, 0.25, 0.5, 0.75, 1.0)]
    middle = H - BOTTOM + 16
    parts = [f'<svg viewBox="0 0 {W} {H}" role="img" font-size="11" font-family="inherit">']
    for step in range(5):
        value = top * step / 4
        parts.append(_level(_y(value, top), "#dde2e9"))
        parts.append(_word(LEFT - 6, _y(value, top) + 4, f"{value:.0%}", "end"))
    parts += [_word(_x(value, span), middle, label, "middle") for value, label in across]
    parts.append(_word((LEFT + W) / 2, H - 6, x, "middle", INK))
    turned = f'transform="translate(11 {(H - BOTTOM) / 2}) rotate(-90)"'
    parts.append(f'<text {turned} text-anchor="middle" fill="{INK}">{escape(y)}</text>')
    if bar and bar[0] <= top:
        parts.append(_level(_y(bar[0], top), "#b42318", "5 4"))
        parts.append(_word(W - RIGHT, _y(bar[0], top) - 4, bar[1], "end", "#b42318"))
    for place, line in enumerate(drawn):
        parts += _line(line, span, top)
        key = f'x="{LEFT + 10}" y="{TOP + 4 + 16 * place}" width="12" height="4" fill="{line.colour}"'
        parts += [f"<rect {key}/>", _word(LEFT + 27, TOP + 10 + 16 * place, line.name, "start", INK)]
    return "".join([*parts, "</svg>"])


def whisker(mean: float, low: float, high: float, other: float | None = None) -> str:
    """Draw a share with its interval on [0, 1], and the mean of another run as a hollow dot."""
    at = [6 + 178 * min(1.0, max(0.0, value)) for value in (mean, low, high)]
    ring = (
        ""
        if other is None
        else f'<circle cx="{6 + 178 * other:.1f}" cy="8" r="4" fill="none" stroke="{B}" stroke-width="1.6"/>'
    )
    return (
        '<svg viewBox="0 0 190 16"><line x1="6" x2="184" y1="8" y2="8" stroke="#dde2e9"/>'
        f'<line x1="{at[1]:.1f}" x2="{at[2]:.1f}" y1="8" y2="8" stroke="{A}" stroke-width="3" opacity=".45"/>'
        f'{ring}<circle cx="{at[0]:.1f}" cy="8" r="3.6" fill="{A}"/></svg>'
    )


def _level(up: float, colour: str, dashes: str = "none") -> str:
    ends = f'x1="{LEFT}" x2="{W - RIGHT}" y1="{up:.1f}" y2="{up:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-dasharray="{dashes}"/>'


def _word(x: float, y: float, text: str, anchor: str, colour: str = "#5d6878") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _line(line: Line, span: tuple[float, float], top: float) -> list[str]:
    places = [(_x(x, span), _y(min(y, top), top)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    drawn = [f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2"/>']
    if line.dots or len(places) == 1:
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{line.colour}"/>' for x, y in places]
    return drawn


def _x(value: float, span: tuple[float, float]) -> float:
    return LEFT + (value - span[0]) / (span[1] - span[0]) * (W - LEFT - RIGHT)


def _y(value: float, top: float) -> float:
    return H - BOTTOM - value / top * (H - BOTTOM - TOP)
