-- Calls are found by their ids, which some providers use again and again: of an answer's call it is
-- known here whose it was, nobody's being the empty text, so that what was called for others is not
-- even looked at.
alter table items add column called_for text;

update items set called_for = (
  select coalesce(turns.user_id, '') from turns where turns.id = items.turn_id)
  where call_id is not null and side = 'out';

drop index items_by_call;

create index items_by_call on items (tenant, called_for, call_id, turn_id)
  where called_for is not null;
