"""The graphs of a SavedModel, made to load quietly and in less memory."""

import pathlib

from tensorflow.core.protobuf import saved_model_pb2


def simplify_graphs(path: pathlib.Path) -> None:
    """Merges equal constants, and takes out gradients that are not saved.

    TensorFlow adds constants wherever a size is read: nearly half of the nodes
    of a search. A process that loads a SavedModel keeps each node as objects
    of Python and of C++, and once more for each function around its own. It
    also warns of each function with a custom gradient that is not saved;
    without its name, TensorFlow's own gradient remains.

    Args:
        path: Folder of the SavedModel. Its `fingerprint.pb`, which only the
            old file matched, is removed.
    """
    file = path / "saved_model.pb"
    model = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    for meta_graph in model.meta_graphs:
        graph = meta_graph.graph_def
        _forget_gradients(graph.node)
        for function in graph.library.function:
            _forget_gradients(function.node_def)
            _merge_constants(function)
    file.write_bytes(model.SerializeToString())
    (path / "fingerprint.pb").unlink(missing_ok=True)


def _forget_gradients(nodes):
    for node in nodes:
        node.attr.pop("_gradient_op_type", None)


def _merge_constants(function):
    """Merges the equal constants of a `FunctionDef`, in place."""
    first, merged = {}, {}
    for node in function.node_def:
        # Some may only be read after other nodes, which are their inputs.
        if node.op == "Const" and not node.input:
            name = first.setdefault(_without_name(node), node.name)
            if name != node.name:
                merged[node.name] = name

    def renamed(tensor):
        """A tensor `node:output:0`, or `^node`, which has to come before."""
        name = tensor.removeprefix("^").partition(":")[0]
        return tensor.replace(name, merged.get(name, name), 1)

    for index in reversed(range(len(function.node_def))):
        node = function.node_def[index]
        if node.name in merged:
            del function.node_def[index]
        else:
            node.input[:] = map(renamed, node.input)
    for tensors in function.ret, function.control_ret:
        for name, tensor in tensors.items():
            tensors[name] = renamed(tensor)


def _without_name(node):
    """What a node is, as bytes."""
    copy = type(node).FromString(node.SerializeToString())
    copy.ClearField("name")
    copy.ClearField("experimental_debug_info")
    return copy.SerializeToString(deterministic=True)
