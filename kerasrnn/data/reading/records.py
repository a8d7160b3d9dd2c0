"""Records of named values: JSON, Parquet, TMX, `datasets`, pandas.

`pyarrow` and `datasets` are needed only for their formats.
"""

import collections
import itertools
import json
import xml.etree.ElementTree

from kerasrnn.data.reading.table import check_names
from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.reading.text_files import numbered_lines
from kerasrnn.data.reading.text_files import opened
from kerasrnn.data.reading.text_files import parsing
from kerasrnn.data.report import CorpusError
from kerasrnn.optional import needs

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Keys that identify a record.
_TEXTS = {"text", "tokens", "words", "sentence", "review"}


def is_dataset(path):
    """Whether a folder was written by `save_to_disk` of `datasets`."""
    files = path / "state.json", path / "dataset_dict.json"
    return any(file.is_file() for file in files)


def json_records(path, report):
    """Yields `(number, record)` from JSON lines or an array of records.

    The array may also be the only list in an object, as in `{"data": [...]}`,
    unless the object itself is a record, as in `{"text": ..., "spans": [...]}`.
    """
    read = numbered_lines(byte_lines(path, report), report)
    lines = ((number, line) for number, line in read if line.strip())
    head = list(itertools.islice(lines, 2))
    lines = itertools.chain(head, lines)
    known = [_loaded(line)[1] is None for _, line in head]
    is_open = head and head[0][1].strip() in ("[", "{")
    if any(known) and not is_open and (len(head) > 1 or report.malformed):
        return _objects(lines, report, parse=True)
    whole, error = _loaded("\n".join(line for _, line in lines))
    if head and report.malformed:
        report.refuse()
    if head and error:
        raise CorpusError(
            f"The corpus {path} is damaged JSON, or has objects that span "
            "several lines. Expected: JSON lines with one object each, or an "
            "array of objects, alone or as the only list in an object. "
            f"Received: {error}"
        )
    if isinstance(whole, dict):
        whole = _only_list(whole) or [whole]
    elif record_of(whole) or not isinstance(whole, list):
        whole = [whole] if head else []
    report.unit, report.seen = "row", len(whole)
    return _objects(enumerate(whole, start=1), report)


def _loaded(text):
    """Returns the value of a JSON text, and the error if it is invalid."""
    try:
        return json.loads(text), None
    except (ValueError, RecursionError) as error:
        return None, error


def _only_list(whole):
    """Returns the only list of objects in a JSON object, or `None`."""
    lists = {
        key: value
        for key, value in whole.items()
        if isinstance(value, list)
        and value
        and are_records(filter(None, value))
    }
    is_record = _TEXTS & {key.lower() for key in whole.keys() - lists.keys()}
    return None if is_record or len(lists) != 1 else lists.popitem()[1]


def _objects(numbered, report, parse=False):
    """Yields records, parsed from JSON lines if requested."""
    for number, value in numbered:
        value, error = _loaded(value) if parse else (value, None)
        record = record_of(value)
        if record is None:
            problem = "invalid JSON" if error else "not a JSON object"
            report.add(number, problem)
        else:
            yield number, record


def record_of(value):
    """Converts a record to a dictionary; `None` if values have no names.

    In a translation data set, the record is its dictionary of translations.
    spaCy's pairs `[text, {"entities": ...}]` are records, too.
    """
    match value:
        case {"translation": dict(nested)}:
            return nested
        case dict():
            return value
        case [str(text), dict(marks)]:
            return {"text": text, **marks}
    return None


def are_records(values):
    """Whether all items of a list are records."""
    return all(record_of(value) is not None for value in values)


def tmx_records(path):
    """Yields the units of a translation memory, dictionaries by language.

    A unit with several segments of a language gives several records. The case
    of a language code is that of its first occurrence.
    """
    spellings: dict[str, str] = {}
    with (
        parsing(path, "a translation memory in the format TMX"),
        opened(path) as file,
    ):
        for _, element in xml.etree.ElementTree.iterparse(file):
            if _name(element) in ("bpt", "ept", "it", "ph", "ut"):  # codes
                element.text = ""
            elif _name(element) == "tu":
                yield from _units(element, spellings)
                element.clear()


def _units(element, spellings):
    """Yields dictionaries with one segment per language of a unit."""
    segments = collections.defaultdict(list)
    for variant in element.iterfind("{*}tuv"):
        language = variant.get(_LANGUAGE) or variant.get("lang") or ""
        language = spellings.setdefault(language.lower(), language)
        texts = (
            x for seg in variant.iterfind("{*}seg") for x in seg.itertext()
        )
        segments[language].append("".join(texts))
    for number in range(max(map(len, segments.values()), default=0)):
        yield {
            language: found[number] if number < len(found) else found[0]
            for language, found in segments.items()
        }


def _name(element):
    """Returns the tag of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def parquet_records(path):
    """Yields the rows of a Parquet file."""
    with needs("pyarrow", "datasets"):
        import pyarrow.parquet

    with (
        parsing(path, "a whole parquet file"),
        pyarrow.parquet.ParquetFile(
            path, page_checksum_verification=True
        ) as file,
    ):
        check_names(file.schema_arrow.names, path)
        # Files from the Hugging Face Hub have the names of their classes.
        facts = (file.schema_arrow.metadata or {}).get(b"huggingface")
        features = json.loads(facts or "{}").get("info", {}).get("features")
        for batch in file.iter_batches():
            batch.validate(full=True)
            yield from _with_class_names(batch.to_pylist(), features)


def dataset_records(path):
    """Yields the rows of a data set folder of `datasets`."""
    if not is_dataset(path):
        files = sorted(x.name for x in path.iterdir() if x.is_file())
        advice = f". Did you mean one of its files, {', '.join(files[:5])}?"
        raise IsADirectoryError(
            "Expected a corpus file, a folder with a sub-folder of texts for "
            "each class, or one written by `save_to_disk` of `datasets`. "
            f"Received: the folder {path.absolute()}{advice if files else ''}"
        )
    with needs("datasets", "datasets"):
        import datasets

    with parsing(path, "a folder written by `save_to_disk` of `datasets`"):
        data = datasets.load_from_disk(str(path))
        if isinstance(data, dict):
            raise CorpusError(
                f"The corpus {path} has several parts. Expected: the folder of "
                f"one part, such as {path / next(iter(data), 'train')}. "
                f"Received: a folder with {', '.join(map(repr, data))}"
            )
        yield from _with_class_names(data, data.features)


def object_records(source):
    """Returns the rows of a data set, DataFrame or list of dicts."""
    if hasattr(source, "notna") and hasattr(source, "columns"):
        check_names(list(map(str, source.columns)), "the DataFrame")
        rows = source.astype(object).where(source.notna(), None)
        return rows.rename(columns=str).to_dict("records")
    if hasattr(source, "features"):
        # A data set may be set to return rows in the format of pandas or NumPy.
        return _with_class_names(source.with_format(None), source.features)
    if isinstance(source, list | tuple) and are_records(source):
        return source
    parts = list(source) if isinstance(source, dict) else ()
    expected, received = "", type(source).__name__
    if parts:
        expected = f"; choose one of the parts, such as `corpus[{parts[0]!r}]`"
        received += f" of {', '.join(map(repr, parts))}"
    raise CorpusError(
        "A corpus must be a path, a data set of `datasets`, a pandas DataFrame "
        f"or a list of dicts{expected}. Received: {received}"
    )


def _with_class_names(rows, features):
    """Yields rows with classes replaced by their names, if known."""
    names = {
        column: dict(enumerate(found))
        for column, feature in (features or {}).items()
        if (found := _class_names(feature))
    }
    for row in rows:
        yield row | {
            column: _named(row[column], names[column])
            for column in names.keys() & row.keys()
        }


def _named(value, known):
    """Replaces a class, or the classes in a list, by names."""
    if isinstance(value, list):
        return [_named(x, known) for x in value]
    return known.get(value)


def _class_names(feature):
    """Returns the class names of a feature, which may be a list.

    Features are objects, or dicts with a `_type` in JSON. A dict without
    `_type` is a nested structure.
    """
    if not isinstance(feature, dict):
        feature = vars(feature) if hasattr(feature, "__dict__") else {}
    elif not isinstance(feature.get("_type"), str):
        return None
    inner = feature.get("feature")
    return _class_names(inner) if inner else feature.get("names")
