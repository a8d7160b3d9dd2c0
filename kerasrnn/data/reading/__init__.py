"""Reading rows: a function for each format, and one that selects columns.

`read_rows` of `rows.py` reads as follows. `open_table` of `formats.py` opens a
source, by the function of its format, as a `Table` of records, each with its
line or row number. `read_columns` takes the columns that are asked for out of
each record, converts their cells by `cells.py`, and adds what it leaves out to
a `Report`.
"""
