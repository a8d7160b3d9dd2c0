import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from kerasrnn.pipelines.saved_model import simplify_graphs


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def halve_until_small(x):
    """With constants that differ in dtype, are returned and come first."""
    with tf.control_dependencies([tf.constant(2.0, name="before")]):
        steps = tf.constant(2)
    steps, x = tf.while_loop(
        lambda n, x: tf.reduce_max(x) > 2.0,
        lambda n, x: (n + 2, x / 2.0 - 2.0 + 2.0),
        [steps, x],
    )
    return {"x": x + 2.0 - 2.0, "steps": steps, "two": tf.constant(2.0)}


def constants(path):
    """The attributes and inputs of the constants of each function."""
    model = saved_model_pb2.SavedModel.FromString(
        (path / "saved_model.pb").read_bytes()
    )
    return [
        [
            (str(sorted(node.attr.items())), tuple(node.input))
            for node in function.node_def
            if node.op == "Const"
        ]
        for function in model.meta_graphs[0].graph_def.library.function
    ]


def test_equal_constants_are_one_and_nothing_else_changes(tmp_path):
    module = tf.Module()
    module.function = halve_until_small
    tf.saved_model.save(module, str(tmp_path), halve_until_small)
    before = constants(tmp_path)
    simplify_graphs(tmp_path)
    after = constants(tmp_path)
    assert [set(x) for x in after] == [set(x) for x in before]
    # One that follows another node remains.
    alike = [c for x in after for c in set(x) if x.count(c) > 1]
    assert all(inputs for _, inputs in alike)
    assert sum(map(len, after)) < sum(map(len, before))
    x = tf.constant([9.0, 1.0])
    loaded = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    found = {name: y.numpy().tolist() for name, y in loaded(x).items()}
    assert found == {"x": [1.125, 0.125], "steps": 8, "two": 2.0}
