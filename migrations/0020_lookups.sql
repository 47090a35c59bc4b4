-- Indexes and a column that keep lookups as fast in a large database as in a small one.

-- Calls whose user is unknown. The calls of known users are in `calls_by_user`; if they were in this index
-- as well, a query would read each of them.
drop index items_by_call;

create index items_by_call on items (tenant, call_id, turn_id)
  where call_id is not null and side = 'out' and called_for is null;

-- Queries want the latest turn of an owner with a hash. All compared columns are in the index, so that
-- other turns with the same content are not read.
drop index turns_by_content;

create index turns_by_content on turns (content_hash, tenant, coalesce(user_id, ''), id)
  where content_hash is not null and deleted_at is null;

-- The chat completions that are listed. Turns without a content hash are not: they were stored for recall
-- only.
drop index turns_by_chat;

create index listed_chats on turns (tenant, coalesce(user_id, ''), id)
  where dialect = 'chat' and content_hash is not null and deleted_at is null
    and state in ('complete', 'incomplete');

-- Postgres rejects a row whose indexed columns are longer than 2,704 bytes, so only the first 200 characters
-- of a name are indexed.
create index listed_chats_by_model on turns (tenant, coalesce(user_id, ''), substr(model, 1, 200), id)
  where dialect = 'chat' and content_hash is not null and deleted_at is null
    and state in ('complete', 'incomplete');

create index listed_chats_by_served_model
  on turns (tenant, coalesce(user_id, ''), substr(served_model, 1, 200), id)
  where dialect = 'chat' and content_hash is not null and deleted_at is null
    and state in ('complete', 'incomplete') and served_model <> model;

create index labelled_chats on turns (tenant, coalesce(user_id, ''), id)
  where dialect = 'chat' and content_hash is not null and deleted_at is null
    and state in ('complete', 'incomplete') and metadata <> '{}';

-- An ancestor of the turn; null for a turn without a parent, and for turns that are older than the column.
-- These ancestors are chosen so that any ancestor is few steps away, e.g. 20 in a chain of 5,000 turns.
alter table turns add column shortcut text;
