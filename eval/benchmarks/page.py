"""Results of a run -> a page of docs/ and its plots, as SVG, for which nothing has to be installed.

page(results)                             # the text of the page
plot("Query, p50", {"rag": [(1000, 9.1), ...]}, "milliseconds")       # an SVG, both axes logarithmic
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Point = tuple[float, float]
_COLOURS = ("#1b6ca8", "#c4572e", "#3b8f4e", "#7b4fa3")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 340, 70, 50


def plot(title: str, series: Mapping[str, Sequence[Point]], unit: str) -> str:
    """Draw lines over the number of papers."""
    points = [point for line in series.values() for point in line if point[1] > 0]
    if not points:
        return ""
    x0, x1 = (f(math.log10(x) for x, _ in points) for f in (min, max))
    y0, y1 = (
        math.floor(min(math.log10(y) for _, y in points)),
        math.ceil(max(math.log10(y) for _, y in points)),
    )
    y1 = y1 if y1 > y0 else y0 + 1

    def at(point: Point) -> tuple[float, float]:
        across = (math.log10(point[0]) - x0) / ((x1 - x0) or 1)
        up = (math.log10(point[1]) - y0) / (y1 - y0)
        return _LEFT + across * (_WIDTH - _LEFT - 110), _HEIGHT - _BOTTOM - up * (_HEIGHT - _BOTTOM - 40)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{title}</text>',
    ]
    for power in range(y0, y1 + 1):
        x, y = at((10**x0, 10.0**power))
        parts.append(f'<path d="M{x:.0f} {y:.1f}H{_WIDTH - 110}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8:.0f}" y="{y + 4:.1f}" text-anchor="end">{_short(10.0**power)}</text>')
    for size in sorted({x for x, _ in points}):
        x, _ = at((size, 10.0**y0))
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 30}" text-anchor="middle">{_short(size)}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}">papers; vertical: {unit}; both logarithmic</text>')
    for colour, (name, line) in zip(_COLOURS, series.items(), strict=False):
        shown = [at(point) for point in line if point[1] > 0]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in shown)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in shown]
        x, y = shown[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def slope(line: Sequence[Point]) -> float | None:
    """Least-squares slope of log y over log x: 1 is proportional, 0 flat."""
    pairs = [(math.log(x), math.log(y)) for x, y in line if y > 0]
    if len(pairs) < 2:
        return None
    mx, my = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    below = sum((x - mx) ** 2 for x, _ in pairs)
    return sum((x - mx) * (y - my) for x, y in pairs) / below if below else None


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(results: dict[str, Any]) -> str:
    """The whole page; what was not run is shown as such."""
    parts = [
        *results["head"],
        f"Machine: {results['machine']}. {results['when']}. Medians of {results['runs']} runs after one to"
        " warm up, the programs in turn. Ratios are what counts; seconds are this machine's.",
        "Versions: " + ", ".join(f"{name} {said}" for name, said in results["versions"].items()) + ".",
        "## Targets",
        table(("what", "target", "measured", "met"), results["targets"]),
        *(["### Misses and their causes", *results["causes"]] if results["causes"] else []),
        "## Whole processes",
        "Wall clock, processor seconds and peak memory of each command.",
        table(("case", "program", "wall s", "processor s", "peak MiB", "remark"), results["processes"]),
        "## A question inside a process",
        results["inside_text"],
        table(("papers", *results["inside_head"]), results["inside"]),
        "## Growth",
        results["growth_text"],
        table(("papers", "ingest s", "papers a second", "ingest peak MiB", "disk MiB", "again, unchanged s",
               "query p50 ms", "one question MiB"), results["growth"]),
        _slopes(results["slopes"]),
        *(f"![{file.rpartition('/')[2][:-4]}]({file})" for file in results["plots"]),
        results["outlook"],
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _slopes(slopes: Mapping[str, float]) -> str:
    said = ", ".join(f"{name} {found:.2f}" for name, found in slopes.items())
    return f"Slopes of log against log: {said}." if said else ""


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
