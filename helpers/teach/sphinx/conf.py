"""How Sphinx builds the pages that helpers/teach/site.py writes for it."""

from docutils import nodes
from latex2mathml.converter import convert

project = html_title = "Retrieval baseline"
extensions = ["myst_nb", "sphinx.ext.githubpages"]  # that one lets GitHub serve _static/
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a part of a session begins with a second heading
nb_execution_mode = "off"
nb_code_prompt_show, nb_code_prompt_hide = "Show the {type}", "Hide the {type}"
html_theme = "sphinx_book_theme"
html_theme_options = {
    "article_header_end": ["prev-next.html", "article-header-buttons.html"],
    "footer_content_items": [],
    "home_page_in_toc": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
html_static_path, html_css_files, html_js_files = ["static"], ["site.css"], ["print.js"]
html_copy_source = html_use_index = html_show_copyright = False
html_show_search_summary = False  # it would read each page, which a browser refuses of files
html_math_renderer = "mathml"


def setup(app) -> None:
    """Draw formulas by the browser's own means: Sphinx would fetch MathJax from the network."""
    app.add_html_math_renderer("mathml", *2 * [(add_formula, None)])


def add_formula(page, node: nodes.Node) -> None:
    """Add a formula to a page as MathML."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    formula = convert(node.astext(), display=display)
    keys = ' tabindex="0"' if display == "block" else ""  # a wide one scrolls by keys
    page.body.append(f'<span class="formula-{display}"{keys}>{formula}</span>')
    raise nodes.SkipNode
