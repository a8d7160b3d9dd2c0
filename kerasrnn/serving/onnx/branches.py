"""Branches of a graph in the form that tf2onnx knows."""

import tensorflow as tf


def without_cases(function):
    """Returns a function whose choices of two branches are `If`s.

    `keras.ops.switch` makes a `Case`, which TensorFlow freezes to operations
    that ONNX does not have.

    Args:
        function: A `ConcreteFunction` of tensors that returns a dictionary.
    """
    definition = function.graph.as_graph_def()
    bodies = definition.library.function
    # A name stands for one body, everywhere in the process.
    names = {body.signature.name for body in bodies}
    for body in bodies:
        body.signature.name += _CHANGED
    del definition.library.gradient[:]
    for nodes in (definition.node, *(body.node_def for body in bodies)):
        for node in list(nodes):
            if node.op in ("Case", "StatelessCase"):
                _choose(nodes, node, in_body=nodes is not definition.node)
            _rename_calls(node, names)
    captured = [value for value, _ in function.graph.captures]
    results = function.structured_outputs

    def call(*values):
        graph = tf.compat.v1.get_default_graph()
        # The variables that are to be frozen.
        for variable in function.graph.variables:
            graph.watch_variable(variable)
        arguments = [x.name for x in function.graph.inputs]
        found = tf.graph_util.import_graph_def(
            definition,
            dict(
                zip(
                    arguments,
                    [*values, *map(graph.capture, captured)],
                    strict=True,
                )
            ),
            [x.name for x in function.outputs],
            name="",
        )
        return tf.nest.pack_sequence_as(results, found)

    specs = tf.nest.flatten(function.structured_input_signature)
    return tf.function(call, specs, autograph=False)


_CHANGED = "_with_ifs"


def _choose(nodes, node, in_body):
    """Turns a `Case` into an `If`."""
    otherwise, then = node.attr["branches"].list.func
    is_second = nodes.add(
        name=f"{node.name}_is_second", op="Cast", input=node.input[:1]
    )
    is_second.attr["SrcT"].type = tf.int32.as_datatype_enum
    is_second.attr["DstT"].type = tf.bool.as_datatype_enum
    node.input[0] = is_second.name + (":y:0" if in_body else "")
    node.op = node.op.replace("Case", "If")
    node.attr["Tcond"].type = tf.bool.as_datatype_enum
    node.attr["then_branch"].func.CopyFrom(then)
    node.attr["else_branch"].func.CopyFrom(otherwise)
    del node.attr["branches"]


def _rename_calls(node, names):
    """Has a node call the changed bodies."""
    if node.op in names:
        node.op += _CHANGED
    for value in node.attr.values():
        for called in [value.func, *value.list.func]:
            if called.name in names:
                called.name += _CHANGED
