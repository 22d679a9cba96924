#!/usr/bin/env python3
"""Turns the Parquet operator tables of an AIConfigurator checkout into the CSV that roofcal imports.

    pip install pyarrow
    scripts/aiconfigurator_to_csv.py aiconfigurator/aic-core/src/aiconfigurator_core/systems/data ../shared/data/silicon

Each SOURCE/<system>/.../<table>.parquet becomes OUTPUT/<system>/.../<table>.csv.gz with the same columns, in the same
order, and the same rows; nothing is converted or left out. The same input gives the same bytes. docs/data.md says how to
get the tables.
"""

import argparse
import csv
import gzip
import io
import pathlib
import sys

LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def convert(source: pathlib.Path, target: pathlib.Path) -> int:
    """Writes one table; returns its number of rows."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(source)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    # A float is written with the fewest digits that read back as the same value; a missing value is an empty cell.
    writer.writerows(zip(*(column.to_pylist() for column in table.columns)))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".part")
    unfinished.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    unfinished.rename(target)
    return table.num_rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path, help="the checkout's folder of systems: .../systems/data")
    parser.add_argument("output", type=pathlib.Path, help="where the CSV files go")
    parser.add_argument("--system", action="append", default=[], help="only this system (h200_sxm); may be repeated")
    arguments = parser.parse_args()

    systems = arguments.system or [entry.name for entry in sorted(arguments.source.glob("*")) if entry.is_dir()]
    tables = [path for system in systems for path in sorted((arguments.source / system).rglob("*_perf.parquet"))]
    if not tables:
        print(f"{arguments.source}: no *_perf.parquet below it for {', '.join(systems) or 'any system'}", file=sys.stderr)
        return 1
    try:
        import pyarrow.parquet  # noqa: F401  # here, so that --help works without it
    except ImportError:
        print("this needs pyarrow: pip install pyarrow", file=sys.stderr)
        return 1
    pointers = 0
    for path in tables:
        with path.open("rb") as file:
            if file.read(len(LFS_POINTER)) == LFS_POINTER:
                pointers += 1
                continue
        target = (arguments.output / path.relative_to(arguments.source)).with_suffix(".csv.gz")
        print(f"{target}: {convert(path, target)} rows")
    if pointers:
        print(f"{pointers} of {len(tables)} tables are git-lfs pointers, not data: run 'git lfs pull' in the checkout",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
