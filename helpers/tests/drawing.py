"""What a figure shows, read back from its axes."""


def title(ax) -> str:
    return ax.get_title(loc="left").replace("\n", " ")


def named(ax) -> tuple[str, str]:
    return ax.get_xlabel(), ax.get_ylabel()


def words(texts) -> list[str]:
    return [text.get_text().strip() for text in texts]


def rows(ax) -> list[str]:
    """Return the names beside the y axis."""
    return words(ax.get_yticklabels())


def texts(ax) -> list[tuple]:
    """Return (words, x, y) of what is written into a picture."""
    return [
        (t.get_text().strip(), *(round(float(n), 9) for n in getattr(t, "xy", t.get_position())))
        for t in ax.texts
    ]


def points(ax) -> dict[str, list[tuple]]:
    """Return the (x, y) of the points with each mark; a line has the mark "None"."""
    marks: dict[str, list[tuple]] = {}
    for line in ax.lines:
        pairs = zip(*(map(float, values) for values in line.get_data()), strict=True)
        marks.setdefault(line.get_marker(), []).extend(pairs)
    return marks


def bars(ax) -> list[tuple[float, float]]:
    """Return (left, width) of bars that lie."""
    return [(round(bar.get_x(), 9), round(bar.get_width(), 9)) for bar in ax.patches]


def upright(ax) -> list[float]:
    """Return where the lines stand that mark a value on the x axis."""
    lines = (line.get_xdata() for line in ax.lines if [*line.get_ydata()] == [0, 1])
    return [round(float(x[0]), 9) for x in lines if x[0] == x[1]]
