-- Summaries. Each replaces the beginning of a conversation, up to a boundary between two turns, and is
-- found by a hash of the items before the boundary.

create table summaries (
  id text primary key,
  tenant text not null,
  user_id text,
  -- The source of the summary, if it is stored. The summary is deleted with it.
  thread text,
  conversation text,
  -- Hash of the items that the summary replaces.
  prefix_hash text not null,
  turns integer not null,
  items integer not null,
  -- JSON: the text, and facts that are copied word for word into later summaries.
  body text not null,
  tokens_before bigint not null,
  tokens_after bigint not null,
  model text not null,
  prompt_version integer not null,
  -- The summary that it extends, and the number of summaries in that chain before it.
  made_from text,
  generation integer not null,
  created_at bigint not null,
  -- Time of last use, accurate to a day, and 1 if it expires two days later.
  used_at bigint not null,
  short_lived integer not null
);

-- One summary for each beginning, even with concurrent writers.
create unique index summaries_by_prefix on summaries (tenant, coalesce(user_id, ''), prefix_hash);

create index summaries_by_user on summaries (tenant, user_id) where user_id is not null;

create index summaries_by_thread on summaries (thread) where thread is not null;

create index summaries_by_conversation on summaries (conversation) where conversation is not null;

create index summaries_by_use on summaries (used_at);
