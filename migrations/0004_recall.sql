-- Columns and indexes for finding turns by the text of a chat, and for expiry.

-- Hash of the texts of the turn and of those before it.
alter table turns add column fingerprint text;

-- The account whose upstream rejected the reasoning of earlier turns.
alter table turns add column reasoning_refused_by text;

-- Time of last use, accurate to a day.
alter table turns add column used_at bigint not null default 0;

update turns set used_at = created_at;

-- 1 if the turn expires two days after its last use.
alter table turns add column short_lived integer not null default 0;

-- Queries want the latest turns with a fingerprint; turn ids begin with the time. All compared columns
-- are in the index, so that turns of other owners with the same text are not read.
create index turns_by_fingerprint on turns (fingerprint, tenant, coalesce(user_id, ''), id)
  where fingerprint is not null;

-- For expiry, which runs from the latest to the oldest turn: children come before their parents.
create index turns_by_use on turns (used_at, id);

create index short_lived_turns on turns (used_at, id) where short_lived = 1;

create index turns_by_user on turns (tenant, user_id) where user_id is not null;

create index conversations_by_user on conversations (tenant, user_id) where user_id is not null;

-- Finds calls by id. Some providers reuse ids, and queries want the latest. Tool outputs have a call
-- id too, but are not searched.
drop index items_by_call;

create index items_by_call on items (tenant, call_id, turn_id)
  where call_id is not null and side = 'out';
