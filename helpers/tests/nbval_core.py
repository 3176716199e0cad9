"""A pytest plugin that leaves out the cells below *Going further*: `make proof` runs them."""


def pytest_collection_modifyitems(items):
    """Keep the cells that are not tagged `further`."""
    items[:] = [item for item in items if "further" not in item.cell.metadata.get("tags", [])]
