-- Size of an ended turn: its items and their media. It limits recall, and computing it would read all
-- items. Null for unfinished turns and for turns that are older than the column.
alter table turns add column bytes bigint;
