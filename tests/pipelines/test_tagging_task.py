import numpy as np

from tests.pipelines import small


def test_a_report_shows_the_errors(tmp_path):
    tagger = small.tagger()
    first, second = small.SENTENCES[:2]
    task, rows = tagger.task(), [first, first + second]
    words, true = ([[x[n] for x in row] for row in rows] for n in (0, 1))
    found = tagger.tag_tokens(words)
    facts, pictures = task.report(rows, tmp_path)
    assert facts["samples"] == [
        "Anna Maria lives in Rome .",
        " ".join(words[1]),
    ]
    pairs = [list(zip(*x, strict=True)) for x in zip(true, found, strict=True)]
    wrong = [sum(a != b for a, b in row) for row in pairs]
    assert 0 < wrong[0] < wrong[1]
    worst = sorted((n for n in (0, 1) if wrong[n]), key=lambda n: -wrong[n])
    assert facts["worst"] == [
        {"words": words[n], "true": true[n], "found": found[n]} for n in worst
    ]
    kinds, counts = ["O", "PER", "LOC"], np.zeros((3, 3))
    for row in pairs:
        places = [[kinds.index(x.split("-")[-1]) for x in pair] for pair in row]
        np.add.at(counts, tuple(np.transpose(places)), 1)
    confusions, transitions = (
        pictures[name].axes[0].images[0].get_array()
        for name in ("confusions", "transitions")
    )
    np.testing.assert_allclose(confusions, counts / counts.sum(1)[:, None])
    # From outside, no phrase goes on.
    hidden = np.ma.getmaskarray(transitions)[0].tolist()
    assert hidden == [tag.startswith("I") for tag in small.TAGS]
