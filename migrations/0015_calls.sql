-- The user of a model's call, or the empty text without a user. Some providers reuse call ids, and with
-- this column queries do not read calls of other users. Null for calls that are older than the column,
-- or were written by older replicas; `items_by_call` still finds them.
alter table items add column called_for text;

create index calls_by_user on items (tenant, called_for, call_id, turn_id)
  where called_for is not null;
