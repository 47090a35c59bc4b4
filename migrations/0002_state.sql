-- Columns and tables for the stateful APIs: conversations, background runs and deletion.

-- The number of ancestors, which orders the turns of a chain.
alter table turns add column depth integer not null default 0;

-- The conversation that the turn belongs to.
alter table turns add column conversation text;

-- JSON; set when a client replaced the metadata of its request.
alter table turns add column metadata text;

-- 1 if the run continues when its client disconnects.
alter table turns add column background integer not null default 0;

-- The replica that runs the turn while it is open.
alter table turns add column owner text;

-- When the turn was marked as deleted. Its items stay as long as later turns need them.
alter table turns add column deleted_at bigint;

-- 1 if a client removed the item from its conversation.
alter table items add column hidden integer not null default 0;

-- A list of turns that several clients can add to. `head` is the last turn.
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

-- The leases of replicas. When a lease ends, another replica takes over the runs.
create table replicas (
  id text not null primary key,
  alive_until bigint not null
);

-- The event log of a background run: events `first_number` to `last_number` as text.
create table stream_events (
  turn_id text not null,
  first_number integer not null,
  last_number integer not null,
  tenant text not null,
  text text not null,
  primary key (turn_id, first_number)
);

create index turns_by_state on turns (state) where state in ('queued', 'open');
