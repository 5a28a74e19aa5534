"""Decodes Parquet files of messages on Dask, with two workers.

    python on_dask.py invoices.wsdl Submit messages/ decoded/

The files have the columns `id` and `body`.
"""

from __future__ import annotations

import sys

import dask.dataframe
from distributed import Client, LocalCluster

from deltasoap.arrow.dask import decode

if __name__ == "__main__":
    wsdl, operation, source, target = sys.argv[1:]
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster):
        messages = dask.dataframe.read_parquet(source, split_row_groups=False)
        decode(messages, wsdl, operation, keep=["id"]).to_parquet(target, write_index=False)
