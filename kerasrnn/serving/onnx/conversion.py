"""Converts the graph of a signature to ONNX with tf2onnx."""

import logging

import tensorflow as tf

# Outputs with the name of an input, such as `state_0`, get this prefix, because
# names in ONNX are unique.
NEXT = "next_"
OPSET = 18


def converted(signature):
    """Converts a signature to ONNX.

    tf2onnx's default optimizations are disabled. They take minutes for a
    search, and one of them wrongly merges `Reshape`s. onnxruntime optimizes by
    itself.

    Args:
        signature: A `kerasrnn.serving.Signature`.

    Returns:
        The serialized model. Its inputs and outputs are named as in the
        signature; see `NEXT`.

    Raises:
        Exception: when an operation cannot be converted. The errors of tf2onnx
            have no common class.
    """
    import onnx
    from tf2onnx import optimizer
    from tf2onnx import tf_loader
    from tf2onnx import tfonnx
    from tf2onnx.optimizer.identity_optimizer import IdentityOptimizer

    # The reason is in the exception.
    logging.getLogger("tf2onnx").setLevel(logging.CRITICAL)
    function = without_cases(_renamed(signature).get_concrete_function())
    function = function.get_concrete_function()
    inputs = [x.name for x in function.inputs if x.dtype != tf.resource]
    outputs = [x.name for x in function.outputs]
    names = [*signature.inputs, *sorted(function.structured_outputs)]
    frozen = tf_loader.from_function(function, inputs, outputs)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen, name="")
        graph = tfonnx.process_tf_graph(
            graph,
            continue_on_error=False,
            opset=OPSET,
            custom_rewriter=[_without_lists_of_one, _choosing],
            input_names=inputs,
            output_names=outputs,
            tensors_to_rename=dict(zip(inputs + outputs, names, strict=True)),
        )
        # An `Identity` that replaced an operation may have kept its inputs.
        optimizers = {"remove_identity": IdentityOptimizer}
        graph = optimizer.optimize_graph(graph, False, optimizers)
        model = graph.make_model(signature.name)
    _with_scalar_counters(model.graph)
    types = {node.op_type for node in model.graph.node}
    missing = sorted(x for x in types if not onnx.defs.has(x))
    if missing:
        raise ValueError(f"ONNX does not have {', '.join(missing)}")
    return model.SerializeToString()


def _with_scalar_counters(graph):
    """Makes the iteration counter of each loop a scalar.

    In a loop around a branch, tf2onnx loses this shape, and onnxruntime fails.
    """
    for node in graph.node:
        for body in (x.g for x in node.attribute if x.HasField("g")):
            if node.op_type == "Loop":
                body.input[0].type.tensor_type.ClearField("shape")
                body.input[0].type.tensor_type.shape.SetInParent()
            _with_scalar_counters(body)


def _renamed(signature):
    """Returns a `tf.function` with arguments in the order of the inputs."""
    specs = [
        tf.TensorSpec(spec.shape, spec.dtype, name)
        for name, spec in signature.inputs.items()
    ]

    def call(*values):
        given = dict(zip(signature.inputs, values, strict=True))
        return {
            NEXT + name if name in given else name: value
            for name, value in signature.function(**given).items()
        }

    return tf.function(call, specs, autograph=False)


def _without_lists_of_one(graph, nodes):
    """Replaces lists of one tensor by the tensor, in a graph or loop body.

    `keras.ops.scan` keeps its carry in such lists, reading and writing position
    0. tf2onnx only supports lists with an item for every step.

    Args:
        graph: A `tf2onnx.graph.Graph`, changed in place.
        nodes: List of its nodes.

    Returns:
        The nodes.
    """
    for node in nodes:
        reads = node.type == "TensorListGetItem"
        writes = node.type == "TensorListSetItem"
        if not (reads or writes) or not node.inputs[1].is_const():
            continue
        value, result = node.input[0 if reads else 2], node.output[0]
        same = [value, result]
        # The values of the list get the type of the tensor.
        for user in graph.find_output_consumers(result):
            if user.is_while():
                same.append(user.output[list(user.input).index(result)])
            elif user.type == "Identity":
                same.append(user.output[0])
        known = result if reads else value
        dtype, shape = graph.get_dtype(known), graph.get_shape(known)
        for name in same:
            graph.set_dtype(name, dtype)
            graph.set_shape(name, shape)
        node.type = "Identity"
        graph.replace_inputs(node, [value])
    return nodes


def _choosing(graph, nodes):
    """Makes `where` choose values, because 0 times infinity is NaN."""
    for node in nodes:
        if node.type in ("Select", "SelectV2"):
            node.set_attr("handles_nan", 1)
    return nodes


def without_cases(function):
    """Returns a function with `If` instead of `Case` for two branches.

    `keras.ops.switch` makes a `Case`. TensorFlow freezes it to operations that
    ONNX does not have.

    Args:
        function: A `ConcreteFunction` of tensors that returns a dictionary.
    """
    definition = function.graph.as_graph_def()
    bodies = definition.library.function
    # Names of bodies are unique in the process.
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
        # The variables to freeze.
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
    """Makes a node call the changed bodies."""
    if node.op in names:
        node.op += _CHANGED
    for value in node.attr.values():
        for called in [value.func, *value.list.func]:
            if called.name in names:
                called.name += _CHANGED
