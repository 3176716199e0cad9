"""The two-hour version runs from top to bottom once its exercises are solved."""

import nbformat

from helpers.teach import copies, workbook
from helpers.teach.exercises import read_lessons


def test_the_solved_two_hours_run(tmp_path, monkeypatch):
    copies.learn_command(short=True, folder=tmp_path / "learn")
    path = tmp_path / "learn-short" / "two_hours.ipynb"
    made = nbformat.read(path, 4)
    solved = {cell.id: cell for lesson in read_lessons().values() for cell in lesson.cells}
    for cell in made.cells:
        if copies.STUB[0] in cell.source:
            cell.source = solved[cell.id].source
    nbformat.write(made, path)
    monkeypatch.setenv("PYTHONPATH", str(workbook.ROOT))
    executed = workbook.execute(path, path.parent / "evals")
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")
