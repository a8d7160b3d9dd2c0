import pytest

from kerasrnn.warning import warn

INSIDE = """
def outer(*given):
    inner(*given)

def inner(*given):
    warn(*given)
"""


def test_a_warning_refers_to_the_line_outside_of_the_package():
    module = {"__name__": "kerasrnn.some.module", "warn": warn}
    exec(INSIDE, module)
    with pytest.warns(UserWarning, match="^careful$") as found:
        module["outer"]("careful")
    assert found[0].filename == __file__


def test_a_warning_has_a_category():
    with pytest.warns(FutureWarning) as found:
        warn("soon", FutureWarning)
    assert found[0].filename == __file__
