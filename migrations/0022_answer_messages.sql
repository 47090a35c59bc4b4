-- The ids that Open WebUI gives to its chats and messages, one row for each answer of a model. They name the branch of a
-- chat exactly, so that the turns of its answers are found without comparing texts. A row has no content.
create table answer_messages (
  -- The id of the answer's turn, also if that turn is not stored.
  id text not null primary key,
  tenant text not null,
  user_id text,
  chat text not null,
  message text not null,
  -- The message of the answer before it; the empty text for the first answer of a chat, null if it is unknown.
  parent text,
  -- Number of the answer segments of the same message before this one, e.g. 1 for the answer after its first tool outputs.
  segment integer not null,
  -- 1 if the client sent the beginning of the answer's segment, so that the answer continues it.
  continues integer not null,
  -- The same as `id`; null for an answer whose turn is not stored, because it has only text.
  turn_id text,
  created_at bigint not null,
  used_at bigint not null,
  short_lived integer not null default 0,
  foreign key (turn_id, tenant) references turns (id, tenant) on delete cascade
);

create index answer_messages_by_chat on answer_messages (tenant, coalesce(user_id, ''), chat, id);

create index answer_messages_by_turn on answer_messages (turn_id, tenant) where turn_id is not null;

create index answer_messages_by_user_and_time on answer_messages (tenant, user_id, created_at, id)
  where user_id is not null;

create index answer_messages_by_use on answer_messages (used_at, id);

create index short_lived_answer_messages on answer_messages (used_at, id) where short_lived = 1;
