"""Reading rows: functions for each format, and selection of columns.

`read_rows` of `rows.py` works as follows. `open_table` of `formats.py` opens a
source with the function of its format, as a `Table` of records with line or row
numbers. `read_columns` selects the requested columns of each record, converts
their cells by `cells.py`, and records what is left out in a `Report`.
"""
