"""The numbers of the labels of a table: one a text, or several."""

import itertools

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.label_names import in_order
from kerasrnn.data.label_names import one_spelling
from kerasrnn.data.tables.cell_values import SeveralNamesError


def one_number(rows, known):
    """Numbers the labels of texts that have one each.

    Args:
        rows: `Rows` with the column `label`. Its report is noted in.
        known: List of strings, the labels of a trained model; may be empty.

    Returns:
        A tuple of the names of the labels in the order of their numbers, and
        the number of the label of each text.
    """
    names = one_spelling(rows["label"], known, rows.report)
    if rows.report.reasons[SeveralNamesError]:
        rows.report.notes.append(
            "some texts have several labels: to keep them, read it with "
            "`multi_label`"
        )
    label_names = in_order(set(names))
    numbers = {name: number for number, name in enumerate(label_names)}
    return label_names, [numbers[name] for name in names]


def several_numbers(rows, known):
    """Numbers the labels of texts that have any number of them.

    As `one_number`, of the column `labels`, whose numbers are a tuple for each
    text.

    Raises:
        CorpusError: when a column of a label is given twice.
    """
    names = list(itertools.chain.from_iterable(rows["labels"]))
    spelled = {name: name for name in names}
    columns = rows.report.columns["labels"]
    if isinstance(columns, list):
        if len(set(columns)) < len(columns):
            raise CorpusError(
                "Each label has a column of its own. Expected: different ones "
                f"as `label_column`. Received: {columns}"
            )
        label_names = columns
        rows.report.notes += [
            f"no text has the label {name!r}"
            for name in columns
            if name not in spelled
        ]
    else:
        found = one_spelling(names, known, rows.report) if names else []
        spelled = dict(zip(names, found, strict=True))
        label_names = in_order(set(found))
    numbers = {name: number for number, name in enumerate(label_names)}
    return label_names, [
        tuple(sorted({numbers[spelled[name]] for name in names}))
        for names in rows["labels"]
    ]
