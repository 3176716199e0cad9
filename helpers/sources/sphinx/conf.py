"""How Sphinx builds the pages that helpers/sources/site.py writes for it."""

from latex2mathml.converter import convert

project = html_title = "Retrieval baseline"
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_ipywidgets_js = {}
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a part of a session begins with a second heading
html_theme = "sphinx_book_theme"
html_theme_options = {
    "article_header_end": ["prev-next.html", "article-header-buttons.html"],
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
html_static_path, html_css_files = ["static"], ["site.css"]
html_copy_source = html_show_sphinx = html_show_copyright = False


def setup(app) -> None:
    """Show formulas as MathML, which browsers draw themselves: MathJax would come from outside."""
    shown = [_mathml("inline"), None], [_mathml("block"), None]
    app.add_html_math_renderer("mathml", *map(tuple, shown))
    app.config.html_math_renderer = "mathml"


def _mathml(display: str):
    def visit(page, node) -> None:
        from docutils.nodes import SkipNode

        page.body.append(convert(node.astext(), display=display))
        raise SkipNode

    return visit
