"""How tests compile on JAX: quickly, for the code need not be good."""

XLA_FLAGS = (
    "--xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1"
)
# Of a process that JAX runs in.
ENVIRONMENT = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "XLA_FLAGS": XLA_FLAGS}
