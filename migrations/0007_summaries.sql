-- Summaries: each stands for the beginning of a conversation, up to a border between two turns. It is
-- found by what was said up to there, whichever turn or client that comes from.

create table summaries (
  id text primary key,
  tenant text not null,
  user_id text,
  -- The turns and the conversation that it was made from, if they are kept; it is forgotten with them.
  thread text,
  conversation text,
  -- Names all that it stands for.
  prefix_hash text not null,
  turns integer not null,
  items integer not null,
  -- JSON: the text, and the facts that are kept word for word.
  body text not null,
  tokens_before bigint not null,
  tokens_after bigint not null,
  model text not null,
  prompt_version integer not null,
  -- The summary that it goes on from, and how many before it did so.
  made_from text,
  generation integer not null,
  created_at bigint not null,
  -- When it was last needed, give or take a day; and whether it goes two days after that.
  used_at bigint not null,
  short_lived integer not null
);

-- Of one beginning there is one summary, whoever makes another at the same moment.
create unique index summaries_by_prefix on summaries (tenant, coalesce(user_id, ''), prefix_hash);

create index summaries_by_user on summaries (tenant, user_id) where user_id is not null;

create index summaries_by_thread on summaries (thread) where thread is not null;

create index summaries_by_conversation on summaries (conversation) where conversation is not null;

create index summaries_by_use on summaries (used_at);
