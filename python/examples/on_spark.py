"""Decodes Parquet files of messages on Spark, with two workers.

    python on_spark.py invoices.wsdl Submit messages/ decoded/

The files have the columns `id` and `body`.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from deltasoap.arrow.spark import decode

if __name__ == "__main__":
    wsdl, operation, source, target = sys.argv[1:]
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    messages = spark.read.parquet(source)
    decode(messages, wsdl, operation, keep=["id"]).write.parquet(target)
    spark.stop()
