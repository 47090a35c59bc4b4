-- Memory layers: text that prompts contain beside the conversation. A log of complete versions for each
-- layer.

create table layer_versions (
  id text primary key,
  tenant text not null,
  user_id text,
  layer text not null,
  -- A thread of turns or a conversation; null for a layer over all of the owner's conversations.
  thread text,
  number integer not null,
  -- Number of the user's round in which the version was written.
  round integer not null,
  -- JSON.
  body text not null,
  created_at bigint not null,
  -- Time of last use, accurate to a day, and 1 if it expires two days later.
  used_at bigint not null,
  short_lived integer not null
);

-- Each number is used once, even with concurrent writers.
create unique index layer_versions_by_place
  on layer_versions (tenant, coalesce(user_id, ''), layer, coalesce(thread, ''), number);

create index layer_versions_by_user on layer_versions (tenant, user_id) where user_id is not null;

create index layer_versions_by_thread on layer_versions (thread) where thread is not null;

create index layer_versions_by_use on layer_versions (used_at);
