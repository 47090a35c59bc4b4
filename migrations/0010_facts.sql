-- Facts: sentences that are useful in other conversations, found by their words.

create table facts (
  id text primary key,
  tenant text not null,
  user_id text,
  -- 'user', or the thread of the only conversation that the fact is for.
  scope text not null,
  -- JSON: the text, its area and its source.
  body text not null,
  importance double precision not null,
  -- 1 if every prompt includes the fact.
  core integer not null,
  -- Hash of all of its words, and the id of the key that hashed them.
  words text not null,
  word_key text not null,
  valid_until bigint,
  created_at bigint not null,
  -- Time of the last change of the text.
  changed_at bigint not null,
  -- Time of last use, accurate to an hour, and number of uses.
  used_at bigint not null,
  use_count integer not null
);

-- The same fact is stored once, even with concurrent writers.
create unique index facts_by_words on facts (tenant, coalesce(user_id, ''), scope, words);

create index facts_by_owner on facts (tenant, coalesce(user_id, ''), id);

create index facts_at_core on facts (tenant, coalesce(user_id, ''), scope) where core = 1;

create index facts_by_scope on facts (scope) where scope <> 'user';

create index facts_by_use on facts (used_at) where core = 0;

create index facts_by_end on facts (valid_until) where valid_until is not null;

-- The words of facts. With encryption they are hashed with the key.
create table fact_words (
  tenant text not null,
  -- The user, or the empty text without one.
  user_key text not null,
  scope text not null,
  word text not null,
  fact_id text not null references facts (id) on delete cascade,
  primary key (tenant, user_key, scope, word, fact_id)
);

create index fact_words_by_fact on fact_words (fact_id);
