"""Runs SQL statements in DuckDB, through its C library: what the benchmark of sources compares with.

usage: duckdb_sql.py LIBRARY STATEMENT...
"""

import ctypes
import sys


class Result(ctypes.Structure):
    _fields_ = [("column_count", ctypes.c_uint64), ("row_count", ctypes.c_uint64), ("rows_changed", ctypes.c_uint64),
                ("columns", ctypes.c_void_p), ("error", ctypes.c_char_p), ("internal", ctypes.c_void_p)]


def main():
    duckdb = ctypes.CDLL(sys.argv[1])
    duckdb.duckdb_result_error.restype = ctypes.c_char_p
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    if duckdb.duckdb_open(None, ctypes.byref(database)) or duckdb.duckdb_connect(database, ctypes.byref(connection)):
        sys.exit("DuckDB does not start")
    for statement in sys.argv[2:]:
        result = Result()
        if duckdb.duckdb_query(connection, statement.encode(), ctypes.byref(result)):
            sys.exit(duckdb.duckdb_result_error(ctypes.byref(result)).decode())
        duckdb.duckdb_destroy_result(ctypes.byref(result))


if __name__ == "__main__":
    main()
