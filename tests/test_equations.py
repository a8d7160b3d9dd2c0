"""The equations of docstrings and pages are typeset as they stand there."""

import ast
import re
import xml.etree.ElementTree as ET

import docstrings
import equations
import pytest

from tests.test_layering import FILES

MATHML = "{http://www.w3.org/1998/Math/MathML}"
# Indented blocks that are no equations: signatures and commands.
CODE = {
    '{"inputs": {"prompt": ["the"], "max_tokens": 10}, "signature_name": ...}',
    '{"instances": ["Come in.", "Who?"], "signature_name": "attend"}\n',
    "kerasrnn-corpus saved_models/nmt_hindi in.txt out.txt\n",
    "kerasrnn-demo saved_models",
    "kerasrnn-onnx saved_models/nmt_hindi/1 onnx",
    "kerasrnn-ray 2 recipes/ptb_lm.py\n",
    "call(inputs, states) -> (output, new_states)",
    "given(inputs) -> given",
    "run(sequence, states, mask=None, training=False) -> (outputs, states)",
    "step(ids, states, memory) -> (logits, states, alignments)",
}


def blocks():
    """The first paragraphs of docstrings that are indented."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text, *_ = re.split(
                    r"^\w[\w ]*:\n {4}",
                    ast.get_docstring(node) or "",
                    flags=re.M,
                )
                yield from docstrings._BLOCK.findall(text)


@pytest.mark.parametrize(
    "text, latex",
    [
        ("h~_{t-1}", r"\tilde{h}_{t-1}"),
        ("s'_t", r"s_{t}^{\prime }"),
        ("W_a' k_1", r"W_{a}^{\prime }\,k_{1}"),
        ("W_out x", r"W_{\text{out}}\ x"),
        ("learning_rate g", r"\text{learning_rate}\ g"),
        ("base^i", r"\text{base}^{i}"),
        ("r * (h R)_i", r"r\odot (h\,R)_{i}"),
        ("q . k / sqrt(2 (d))", r"q\cdot k/\sqrt{2\,(d)}"),
        ("|v| P(y | x)", r"\lVert v \rVert \,P(y\mid x)"),
        ("sum_i alpha_i", r"\sum _{i}\ \alpha _{i}"),
        ("[h_1; ...]", r"[h_{1};\,\ldots ]"),
        ("d ~ N(0, 1)", r"d\;\sim\;N(0,\,1)"),
        (
            "a word et al.",
            r"\text{a}\ \text{word}\ \text{et}\ \text{al}\text{.}",
        ),
    ],
)
def test_the_notation(text, latex):
    assert "".join(equations._tokens(text)) == latex


def test_rows_and_columns():
    latex = equations.as_latex(
        "    a = f(b = 1)    or, with c,\n    x_1 = 2\n        + 3\n"
    )
    assert latex == (
        r"\begin{array}{rll} a & =f(b=1) & \quad \text{or},\ \text{with}\ c, "
        r"\\ x_{1} & =2 \\  & \quad +3 \end{array}"
    )


@pytest.mark.parametrize("text", ["run(x) -> y", "h[t] = `a`", "only words"])
def test_what_is_no_equation_is_refused(text):
    with pytest.raises(ValueError, match="equation"):
        equations.typeset(text)


def test_mathml_has_the_letters_of_the_text():
    block = '    s_t = z * s_{t-1}    "copy", d < 1 & more\n'
    math = ET.fromstring(equations.typeset(block)).find(f"{MATHML}math")
    assert math.get("display") == "block"
    text = "".join(math.itertext()).replace("\u2212", "-").replace("\u00a0", "")
    assert text.replace("\u2003", "") == 'st=z\u2299st-1"copy",d<1&more'


def test_every_indented_block_is_an_equation_or_known_code():
    code = set()
    for block in blocks():
        try:
            ET.fromstring(equations.typeset(block))
        except ValueError:
            code.add(re.split(r" {2,}", block.strip())[0])
    assert code == CODE


def test_a_page_is_typeset_at_its_fences():
    page = "Text\n\n```equation\nh_t = 1\n```\n\n```python\nh_t = 1\n```\n"
    typeset = equations.on_page_markdown(page)
    assert typeset.count("<math ") == 1
    assert typeset.endswith("```python\nh_t = 1\n```\n")
