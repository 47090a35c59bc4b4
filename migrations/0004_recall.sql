-- What turns need to be found again from the text of a chat, and to go when nobody needs them.

-- Names the turn by what was said in it and before it.
alter table turns add column fingerprint text;

-- The upstream that refused the reasoning of the turns before.
alter table turns add column reasoning_refused_by text;

-- When it was last needed, give or take a day.
alter table turns add column used_at bigint not null default 0;

update turns set used_at = created_at;

-- Whether it is kept for two days only, from when it was last needed.
alter table turns add column short_lived integer not null default 0;

-- Of several turns with one fingerprint the newest are wanted, and turn ids begin with the time. All
-- that is compared stands in the index: what others have said in the same words is not even read.
create index turns_by_fingerprint on turns (fingerprint, tenant, coalesce(user_id, ''), id)
  where fingerprint is not null;

-- Looked through from the newest to the oldest, so that children come before their parents.
create index turns_by_use on turns (used_at, id);

create index short_lived_turns on turns (used_at, id) where short_lived = 1;

create index turns_by_user on turns (tenant, user_id) where user_id is not null;

create index conversations_by_user on conversations (tenant, user_id) where user_id is not null;

-- Calls are found by their ids, which some providers use again and again: the newest are wanted.
-- Outputs of tools have such an id as well and are not looked for.
drop index items_by_call;

create index items_by_call on items (tenant, call_id, turn_id)
  where call_id is not null and side = 'out';
