"""Decodes Parquet files of messages on Ray, with two workers.

    python on_ray.py invoices.wsdl Submit messages/ decoded/

The files have the columns `id` and `body`.
"""

from __future__ import annotations

import sys

import ray

from deltasoap.arrow.ray import decoder

if __name__ == "__main__":
    wsdl, operation, source, target = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False)
    messages = ray.data.read_parquet(source)
    decoded = messages.map_batches(
        decoder(wsdl, operation, keep=["id"]), batch_format="pyarrow", batch_size=None
    )
    decoded.write_parquet(target)
