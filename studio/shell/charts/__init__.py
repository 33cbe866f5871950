"""Charts as SVG, drawn without script or library, readable on paper, in the dark and without colour.

Each function takes data and words and gives a ``Chart``; the numbers stand in a table beside it, which is
the page's business. Colours are classes (``static/src/shell/charts.css``), so a theme reaches them.
"""

from studio.shell.charts.boxes import Group, strip_chart
from studio.shell.charts.lines import Series, line_chart, swatches
from studio.shell.charts.svg import Chart, Words

__all__ = ["Chart", "Group", "Series", "Words", "line_chart", "strip_chart", "swatches"]
