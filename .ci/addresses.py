"""Gives the sources of a release the address of their repository.

    python .ci/addresses.py FOLDER ADDRESS TAG

The sources name no address, since a clone may lie anywhere. Outside a
repository, as on the page of a package index, relative links lead nowhere: here
they become links to the files at the tag, and the project gets its links.
"""

import argparse
import pathlib
import re

# A relative target of Markdown or HTML: no scheme, and no place on the page.
_TARGET = re.compile(r"""(\]\(|src=")(?![a-z]+:|[#/])([^)"\s]+)""")
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_IMAGES = (".png", ".svg", ".gif", ".jpg")


def absolute_links(text: str, address: str, tag: str) -> str:
    """Returns Markdown whose links to files lead to a repository."""

    def linked(match):
        kind = "raw" if match[2].endswith(_IMAGES) else "blob"
        return f"{match[1]}{address}/{kind}/{tag}/{match[2]}"

    parts = _CODE.split(text)
    parts[::2] = [_TARGET.sub(linked, part) for part in parts[::2]]
    return "".join(parts)


def project_urls(address: str, tag: str) -> str:
    """Returns the table of `pyproject.toml` with the links of the project."""
    return f"""
[project.urls]
Homepage = "{address}"
Documentation = "{address}/blob/{tag}/docs/index.md"
Issues = "{address}/issues"
Changelog = "{address}/blob/{tag}/CHANGELOG.md"
"""


def fill_in(folder: pathlib.Path, address: str, tag: str) -> None:
    """Changes `README.md` and `pyproject.toml` in a folder."""
    readme, project = folder / "README.md", folder / "pyproject.toml"
    text = readme.read_text("utf-8")
    readme.write_text(absolute_links(text, address, tag), "utf-8")
    with project.open("a", encoding="utf-8") as file:
        file.write(project_urls(address, tag))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("address")
    parser.add_argument("tag")
    fill_in(**vars(parser.parse_args()))
