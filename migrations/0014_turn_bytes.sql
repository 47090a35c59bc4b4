-- How large a turn was when it ended, its items and what they show: what is recalled is bounded by it,
-- and to add it up each time would be to read all items. Null for turns from before, and until it ends.
alter table turns add column bytes bigint;
