-- What a stateful API needs to know of a turn beside what was said in it.

-- How many ancestors a turn has: the order of a chain.
alter table turns add column depth integer not null default 0;

-- The conversation whose head the turn was made on.
alter table turns add column conversation text;

-- JSON; set when a client replaced the metadata of its request.
alter table turns add column metadata text;

-- Whether the run goes on without its client.
alter table turns add column background integer not null default 0;

-- The replica that runs the turn while it is open.
alter table turns add column owner text;

-- When its owner deleted it. Its items stay for as long as later turns stand on them.
alter table turns add column deleted_at bigint;

-- Whether the item was taken out of its conversation.
alter table items add column hidden integer not null default 0;

-- A list of turns that several clients can add to: `head` is the newest of them.
create table conversations (
  id text not null primary key,
  tenant text not null,
  user_id text,
  metadata text not null,
  created_at bigint not null,
  head text,
  busy_by text,
  busy_until bigint
);

-- A replica is alive until then, or longer. What a dead one ran, another takes over.
create table replicas (
  id text not null primary key,
  alive_until bigint not null
);

-- The stream of a run that can be followed again: events `first_number` to `last_number` as text.
create table stream_events (
  turn_id text not null,
  first_number integer not null,
  last_number integer not null,
  tenant text not null,
  text text not null,
  primary key (turn_id, first_number)
);

create index turns_by_state on turns (state) where state in ('queued', 'open');
