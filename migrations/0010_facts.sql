-- Facts: what is worth knowing in other conversations, a sentence each. They are found by their words.

create table facts (
  id text primary key,
  tenant text not null,
  user_id text,
  -- 'user', or the thread of the one conversation that it is for.
  scope text not null,
  -- JSON: the text, its area, and where it comes from.
  body text not null,
  importance double precision not null,
  -- Whether it is told whatever is asked.
  core integer not null,
  -- Names all of its words; and by which key, if they are sealed.
  words text not null,
  word_key text not null,
  valid_until bigint,
  created_at bigint not null,
  -- When it was last told otherwise than before.
  changed_at bigint not null,
  -- When it was last needed, give or take an hour, and how often.
  used_at bigint not null,
  use_count integer not null
);

-- The same is not kept twice, whoever keeps it at the same moment.
create unique index facts_by_words on facts (tenant, coalesce(user_id, ''), scope, words);

create index facts_by_owner on facts (tenant, coalesce(user_id, ''), id);

create index facts_at_core on facts (tenant, coalesce(user_id, ''), scope) where core = 1;

create index facts_by_scope on facts (scope) where scope <> 'user';

create index facts_by_use on facts (used_at) where core = 0;

create index facts_by_end on facts (valid_until) where valid_until is not null;

-- The words of facts. Where texts are sealed they stand here by names that only the key gives them.
create table fact_words (
  tenant text not null,
  -- Nobody is the empty text.
  user_key text not null,
  scope text not null,
  word text not null,
  fact_id text not null references facts (id) on delete cascade,
  primary key (tenant, user_key, scope, word, fact_id)
);

create index fact_words_by_fact on fact_words (fact_id);
