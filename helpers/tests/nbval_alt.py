"""A plugin of pytest (`-p helpers.tests.nbval_alt`): nbval compares what pictures say, too.

nbval compares neither images nor the metadata of an output, and there stands the text for those
who cannot see the picture: its title and its values.
"""

from nbval.plugin import IPyNbFile


def pytest_collectstart(collector) -> None:
    """Take the metadata of outputs off the list of what nbval skips."""
    if isinstance(collector, IPyNbFile):
        collector.skip_compare = tuple(key for key in collector.skip_compare if key != "metadata")
