-- What a model is told beside the conversation, and is not part of it: of each such memory a log of
-- versions, every one of them whole.

create table layer_versions (
  id text primary key,
  tenant text not null,
  user_id text,
  layer text not null,
  -- The thread of turns or the conversation that it belongs to; null for what its owner has over all.
  thread text,
  number integer not null,
  -- How many questions had been asked when it was written.
  round integer not null,
  -- JSON.
  body text not null,
  created_at bigint not null,
  -- When it was last needed, give or take a day; and whether it goes two days after that.
  used_at bigint not null,
  short_lived integer not null
);

-- Of two who write at the same moment one comes first.
create unique index layer_versions_by_place
  on layer_versions (tenant, coalesce(user_id, ''), layer, coalesce(thread, ''), number);

create index layer_versions_by_user on layer_versions (tenant, user_id) where user_id is not null;

create index layer_versions_by_thread on layer_versions (thread) where thread is not null;

create index layer_versions_by_use on layer_versions (used_at);
