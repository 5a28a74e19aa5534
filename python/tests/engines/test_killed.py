"""A worker that is killed while it decodes: every row is there, once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from conftest import KillOnce, Source, by_id


def test_ray(source: Source, kill: KillOnce) -> None:
    import ray

    from deltasoap.arrow.ray import decoder

    decode = decoder(source.wsdl, source.operation, keep=["id"])

    def decode_and_die(table: Any) -> Any:
        decoded = decode(table)
        kill(decoded["id"].to_pylist())
        return decoded

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        messages = ray.data.from_arrow(source.tables())
        decoded = messages.map_batches(decode_and_die, batch_format="pyarrow", batch_size=None)
        rows = [row for ref in decoded.to_arrow_refs() for row in ray.get(ref).to_pylist()]
    finally:
        ray.shutdown()
    assert Path(kill.marker).exists()
    assert by_id(rows) == source.rows


def test_dask(source: Source, kill: KillOnce) -> None:
    import dask.dataframe
    from distributed import Client, LocalCluster

    from deltasoap.arrow.dask import decode, decoder

    def die(frame: Any) -> Any:
        kill(frame["id"].tolist())
        return frame

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        messages = dask.dataframe.read_parquet(source.folder, split_row_groups=False)
        decoded = decode(messages, source.wsdl, source.operation, keep=["id"])
        frame = decoded.map_partitions(die, meta=decoded._meta).compute()
        assert Path(kill.marker).exists()
        rows = pa.Table.from_pandas(frame, preserve_index=False).to_pylist()
        assert by_id(rows) == source.rows
        # Tables of Arrow, without a data frame, after another death.
        decode_table = decoder(source.wsdl, source.operation, keep=["id"])
        Path(kill.marker).unlink()

        def decode_and_die(table: Any) -> Any:
            decoded = decode_table(table)
            kill(decoded["id"].to_pylist())
            return decoded

        tables = client.gather(client.map(decode_and_die, source.tables()))
        assert Path(kill.marker).exists()
    assert by_id(pa.concat_tables(tables).to_pylist()) == source.rows


def test_spark(source: Source, kill: KillOnce) -> None:
    from pyspark.sql import SparkSession

    from deltasoap.arrow.spark import decode

    def die(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            kill(batch.column("id").to_pylist())
            yield batch

    # A task may fail three times.
    spark = SparkSession.builder.master("local[2,4]").getOrCreate()
    try:
        messages = spark.read.parquet(str(source.folder))
        decoded = decode(messages, source.wsdl, source.operation, keep=["id"])
        rows = decoded.mapInArrow(die, decoded.schema).toArrow().to_pylist()
    finally:
        spark.stop()
    assert Path(kill.marker).exists()
    assert by_id(rows) == source.rows
