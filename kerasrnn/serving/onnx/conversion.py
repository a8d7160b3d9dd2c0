"""Converts the graph of a signature to ONNX with tf2onnx."""

import logging
import pathlib
import shutil

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

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
        signature: A `kerasrnn.serving.Signature` of a SavedModel that was
            written by `write_with_ifs`.

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
    function = _renamed(signature).get_concrete_function()
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
            custom_rewriter=[_choosing],
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


def _choosing(graph, nodes):
    """Makes `where` choose values, because 0 times infinity is NaN."""
    for node in nodes:
        if node.type in ("Select", "SelectV2"):
            node.set_attr("handles_nan", 1)
    return nodes


def write_with_ifs(model: pathlib.Path, copy: pathlib.Path) -> None:
    """Copies a SavedModel, with `If` instead of `Case` for two branches.

    `keras.ops.switch` makes a `Case`. TensorFlow freezes it to operations that
    ONNX does not have.

    Args:
        model: Folder of a version.
        copy: The folder to write.
    """
    shutil.copytree(model, copy)
    file = copy / "saved_model.pb"
    saved = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    graph = saved.meta_graphs[0].graph_def
    bodies = [body.node_def for body in graph.library.function]
    for nodes in (graph.node, *bodies):
        for node in list(nodes):
            if node.op in ("Case", "StatelessCase"):
                _choose(nodes, node, in_body=nodes is not graph.node)
    file.write_bytes(saved.SerializeToString())


def _choose(nodes, node, in_body):
    """Turns a `Case` of two branches into an `If`."""
    branches = node.attr["branches"].list.func
    if len(branches) != 2:
        return
    otherwise, then = branches
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
