"""Shows texts of the repository on the site too, as a hook of MkDocs.

A page may link to any file that is shown here, as it would in the repository:
`../../benchmarks/README.md`. On the site the link leads to its page.
"""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

# The page of each file.
PAGES = {
    "recipes/README.md": "recipes.md",
    "recipes/studies/README.md": "studies.md",
    "saved_models/README.md": "signatures.md",
    "benchmarks/README.md": "speeds.md",
}
FILES = {page: file for file, page in PAGES.items()}
LINK = re.compile(r"(?<=\]\()([\w./-]+\.(?:md|png))(?=[#)])")


def on_files(files, config, **kwargs):
    """Adds the pages."""
    root = pathlib.Path(config.config_file_path).parent
    for file, page in PAGES.items():
        text = (root / file).read_text("utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown, page, **kwargs):
    """Turns links to files and pictures into links on the site."""
    here = page.file.src_uri
    file = FILES.get(here, f"docs/{here}")

    def relinked(match):
        folder = posixpath.dirname(file)
        target = posixpath.normpath(posixpath.join(folder, match[0]))
        target = PAGES.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(here) or ".")

    return LINK.sub(relinked, markdown)
