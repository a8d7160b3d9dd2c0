"""Orders what a search finds, as a hook of MkDocs: guides first, API last.

The source of the API is not searched.
"""

# What questions about data of one's own, and about words, should find.
FIRST = {
    "faq.md",
    "recipes.md",
    "guides/own_labels.md",
    "guides/own_text.md",
    "guides/series.md",
    "guides/tags.md",
    "terms.md",
}


def on_page_markdown(markdown, page, **kwargs):
    """Gives a page its boost."""
    name = page.file.src_uri
    boost = 3 if name in FIRST else 0.5 if name.startswith("api/") else 1
    page.meta.setdefault("search", {}).setdefault("boost", boost)
    return markdown


def on_page_content(html, **kwargs):
    """Keeps source code out of the search."""
    source = '<details class="mkdocstrings-source"'
    return html.replace(source, f"{source} data-search-exclude")
