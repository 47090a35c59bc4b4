-- Deletions in progress. A row is written first, and hides at once what it covers; the rows that it covers are
-- then deleted in short transactions. Without a replica that does so (`owner`), another one continues.
create table erasures (
  id text not null primary key,
  tenant text not null,
  -- 'user', 'thread', 'conversation' or 'turn'; `name` is the id of that user, thread, conversation or turn.
  kind text not null,
  name text not null,
  -- Only rows of this user are deleted; null for rows of all users, the empty text for rows without a user.
  user_id text,
  -- Rows of a user or thread that are created later stay.
  requested_at bigint not null,
  -- The run that deletes, and until when no other one does.
  owner text,
  owned_until bigint
);

create unique index erasures_by_name on erasures (tenant, kind, name, coalesce(user_id, ''));

-- Where the search for expired turns stopped: a search of Workers is limited, and the next one continues.
create table expiry_cursors (
  chats text not null primary key,
  used_at bigint not null,
  turn_id text not null
);

-- Turns of a user, thread or conversation, in pages.
drop index if exists turns_by_user;

create index turns_by_user_and_time on turns (tenant, user_id, created_at, id) where user_id is not null;

drop index if exists turns_by_thread;

create index turns_by_thread_and_time on turns (tenant, thread, created_at, id);

drop index if exists turns_by_conversation;

create index turns_by_conversation_and_thread on turns (conversation, thread, id) where conversation is not null;

-- Finds out whether a thread has turns that are not deleted, however many it has that are.
create index turns_left_in_thread on turns (tenant, thread) where deleted_at is null;

-- Other rows of a user, in pages.
drop index if exists conversations_by_user;

create index conversations_by_user_and_time on conversations (tenant, user_id, created_at, id)
  where user_id is not null;

drop index if exists summaries_by_user;

create index summaries_by_user_and_time on summaries (tenant, user_id, created_at, id) where user_id is not null;

drop index if exists layer_versions_by_user;

create index layer_versions_by_user_and_time on layer_versions (tenant, user_id, created_at, id)
  where user_id is not null;

create index facts_by_user_and_time on facts (tenant, user_id, created_at, id) where user_id is not null;

drop index if exists media_addresses_by_user;

create index media_addresses_by_user_and_time on media_addresses (tenant, user_id, fetched_at, id)
  where user_id is not null;

drop index if exists idempotency_keys_by_user;

create index idempotency_keys_by_user_and_time on idempotency_keys (tenant, user_id, created_at, id)
  where user_id is not null;

-- Addresses that were not used for a long time, in pages: many addresses are used at the same time.
drop index if exists media_addresses_by_use;

create index media_addresses_by_use_and_id on media_addresses (used_at, id);
