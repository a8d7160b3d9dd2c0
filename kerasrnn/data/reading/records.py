"""Records of named values: JSON, parquet, TMX, `datasets`, pandas.

The libraries `pyarrow` and `datasets` are needed only for their own formats.
"""

import collections
import itertools
import json
import xml.etree.ElementTree

from kerasrnn.data.reading.table import check_names
from kerasrnn.data.reading.text_files import numbered_lines
from kerasrnn.data.reading.text_files import opened
from kerasrnn.data.reading.text_files import parsing
from kerasrnn.data.report import CorpusError
from kerasrnn.optional import needs

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TEXTS = {"text", "tokens", "words", "sentence", "review"}  # keys of a record


def is_dataset(path):
    """Whether a folder was written by `save_to_disk` of `datasets`."""
    files = path / "state.json", path / "dataset_dict.json"
    return any(file.is_file() for file in files)


def json_records(path, report):
    """Yields `(number, record)` of JSON lines, or of one array of records.

    The array may also be the only one in one object, `{"data": [...]}`, unless
    the object is a record itself, `{"text": ..., "spans": [...]}`: then it is
    the only one.
    """
    read = numbered_lines(path, report)
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
            f"The corpus {path} is damaged JSON, or several objects of several "
            "lines. Expected: JSON lines, an object in each, or an array of "
            "objects, alone or as the only one in an object. "
            f"Received: {error}"
        )
    if isinstance(whole, dict):
        whole = _only_list(whole) or [whole]
    elif record_of(whole) or not isinstance(whole, list):
        whole = [whole] if head else []
    report.unit, report.seen = "row", len(whole)
    return _objects(enumerate(whole, start=1), report)


def _loaded(text):
    """The value of a JSON text, and what is wrong with it."""
    try:
        return json.loads(text), None
    except (ValueError, RecursionError) as error:
        return None, error


def _only_list(whole):
    """The only list of objects in a JSON object; `None` if it has not one."""
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
    """Yields records, of JSON lines if they are to be parsed."""
    for number, value in numbered:
        value, error = _loaded(value) if parse else (value, None)
        record = record_of(value)
        if record is None:
            problem = "invalid JSON" if error else "not a JSON object"
            report.add(number, problem)
        else:
            yield number, record


def record_of(value):
    """A record as a dict; `None` if its values have no names.

    In a data set for translation, it is the dict of the translations. A pair
    of a text and a dict, `[text, {"entities": ...}]` of spaCy, is one, too.
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
    """Whether all of a list are records."""
    return all(record_of(value) is not None for value in values)


def tmx_records(path):
    """Yields the units of a translation memory, a dict from its languages.

    A unit with several segments of a language is as many units. The case of a
    language is that of its first segment.
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
    """Yields the segments of a unit by language, of each language one."""
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
    """The tag of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def parquet_records(path):
    """Yields the rows of a parquet file."""
    with needs("pyarrow", "datasets"):
        import pyarrow.parquet

    with (
        parsing(path, "a whole parquet file"),
        pyarrow.parquet.ParquetFile(
            path, page_checksum_verification=True
        ) as file,
    ):
        check_names(file.schema_arrow.names, path)
        # Files of the Hugging Face Hub say the names of their classes.
        facts = (file.schema_arrow.metadata or {}).get(b"huggingface")
        features = json.loads(facts or "{}").get("info", {}).get("features")
        for batch in file.iter_batches():
            batch.validate(full=True)
            yield from _with_class_names(batch.to_pylist(), features)


def dataset_records(path):
    """Yields the rows of a folder that `datasets` wrote."""
    if not is_dataset(path):
        files = sorted(x.name for x in path.iterdir() if x.is_file())
        advice = ""
        if files:
            advice = ". Did you mean one of its files, "
            advice += f"{', '.join(files[:5])}?"
        raise IsADirectoryError(
            "Expected a corpus file, a folder with a folder of texts for each "
            "class, or one written by `save_to_disk` of `datasets`. "
            f"Received: the folder {path.absolute()}{advice}"
        )
    with needs("datasets", "datasets"):
        import datasets

    with parsing(path, "a folder written by `save_to_disk` of `datasets`"):
        data = datasets.load_from_disk(str(path))
        if isinstance(data, dict):
            raise CorpusError(
                f"The corpus {path} has several parts. Expected: the folder of "
                f"one of them, such as {path / next(iter(data), 'train')}. "
                f"Received: a folder with {', '.join(map(repr, data))}"
            )
        yield from _with_class_names(data, data.features)


def object_records(source):
    """The rows of a data set or DataFrame in memory, or of a list of dicts."""
    if hasattr(source, "notna") and hasattr(source, "columns"):
        check_names(list(map(str, source.columns)), "the DataFrame")
        rows = source.astype(object).where(source.notna(), None)
        return rows.rename(columns=str).to_dict("records")
    if hasattr(source, "features"):
        # A data set may give its rows as those of pandas or NumPy.
        return _with_class_names(source.with_format(None), source.features)
    if isinstance(source, list | tuple) and are_records(source):
        return source
    parts = list(source) if isinstance(source, dict) else ()
    raise CorpusError(
        "A corpus must be a path, a data set of `datasets`, a DataFrame of "
        "pandas or a list of dicts"
        + f"; choose one of the parts, such as `corpus[{(parts or [0])[0]!r}]`"
        * bool(parts)
        + f". Received: {type(source).__name__}"
        + f" of {', '.join(map(repr, parts))}" * bool(parts)
    )


def _with_class_names(rows, features):
    """Yields rows with classes by name, where the features tell them."""
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
    """The name of a class by its number; of a list, those in it."""
    if isinstance(value, list):
        return [_named(x, known) for x in value]
    return known.get(value)


def _class_names(feature):
    """The names of classes, of one or a list of them, of a feature.

    Features are objects, or dicts with a `_type` where JSON describes them. A
    dict without one is a structure of features, of any names.
    """
    if not isinstance(feature, dict):
        feature = vars(feature) if hasattr(feature, "__dict__") else {}
    elif not isinstance(feature.get("_type"), str):
        return None
    inner = feature.get("feature")
    return _class_names(inner) if inner else feature.get("names")
