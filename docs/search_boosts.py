"""Orders what a search finds, as a hook of MkDocs: guides first, API last."""

# What questions about data of one's own, and about words, should find.
FIRST = {
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
