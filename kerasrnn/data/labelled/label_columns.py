"""Whether the arguments on columns of labelled texts fit each other."""

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.class_tables import is_of_files


def checked_columns(label_column, multi_label, separator):
    """Returns the column of the labels, or several columns of 0 and 1.

    Args:
        label_column: String, number or list of these, or `None`. A list of one
            is that column.
        multi_label: Whether a text may have several labels.
        separator: String or `None`.

    Returns:
        A string, number, list of these, or `None`.

    Raises:
        ValueError: If the arguments contradict.
    """
    if isinstance(label_column, list | tuple) and len(label_column) < 2:
        label_column = next(iter(label_column), None)
    columns = isinstance(label_column, list | tuple)
    received = (
        f"label_column={label_column!r}, multi_label={multi_label}, "
        f"label_separator={separator!r}"
    )
    if (columns or separator is not None) and not multi_label:
        raise ValueError(
            "Several columns of labels, or a separator, mean several labels a "
            f"text. Expected: multi_label=True. Received: {received}"
        )
    if columns and separator is not None:
        raise ValueError(
            "Each label has a column of 0 and 1, or all have one. Expected: "
            "several columns, or a separator of the labels in the cells of "
            f"one. Received: {received}"
        )
    if separator is not None and not separator.strip(" "):
        raise ValueError(
            "The separator of labels must be visible: names may have spaces. "
            f"Received: {received}"
        )
    return list(label_column) if columns else label_column


def refuse_columns_of_files(
    path, test_path, text_column, label_column, group_column, multi_label
):
    """Raises an error if a column is named, and no table may have it."""
    named = {"group_column": group_column, "multi_label": multi_label}
    if test_path is None or is_of_files(test_path):
        named |= {"text_column": text_column, "label_column": label_column}
    named = [f"{name}={value!r}" for name, value in named.items() if value]
    if named and is_of_files(path):
        raise CorpusError(
            f"The corpus {path} is a folder or an archive of texts, which has "
            "no columns, and one label a text. Expected: a table, or no names "
            "of columns. "
            f"Received: {', '.join(named)}"
        )
