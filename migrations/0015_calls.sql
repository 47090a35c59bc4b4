-- Calls are found by their ids, which some providers use again and again: of an answer's call it is
-- known here whose it was, nobody's being the empty text, so that what was called for others is not
-- even looked at. Null for calls from before, and for those of replicas that do not know the column;
-- both are still found by `items_by_call`.
alter table items add column called_for text;

create index calls_by_user on items (tenant, called_for, call_id, turn_id)
  where called_for is not null;
