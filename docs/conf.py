"""Settings of Sphinx. `python -m docs.site` starts it, on a copy of this folder to which pages have been added."""

from typing import Any

from docs.pages import link_clauses

project, author, copyright = "pynested", "the authors of pynested", "the authors of pynested"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "readme/top.md", "benchmarks"]
suppress_warnings = ["ref.python"]  # names such as `dtype`, which several classes have

html_theme = "furo"
html_title = "pynested"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks are kept with their outputs
default_role = "py:obj"
autodoc_typehints = "none"
napoleon_use_ivar = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Make links of the clauses in docstrings."""
    app.connect("autodoc-process-docstring", lambda *told: link_clauses(told[-1]))
