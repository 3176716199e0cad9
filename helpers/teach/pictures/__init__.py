# ruff: noqa: F401 -- the names are for the notebooks
"""Pictures of the lessons. Each shows values that stand beside it, printed or asserted.

A picture stands still; where `make lab` turns sliders on, it moves. What the write-up shows is in
`helpers.teach.figures`.
"""

from ..figures import with_sliders
from . import corpus, ranking, scores
from .week import map_of_week
