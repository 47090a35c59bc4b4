-- Images, recordings and files, each stored once for a tenant. The text of an item contains the id
-- instead, a hash of the tenant and the medium.
create table media (
  id text not null primary key,
  tenant text not null,
  mime text not null,
  -- Length of the text, usually base64.
  chars bigint not null,
  created_at bigint not null,
  used_at bigint not null
);

create index media_by_use on media (used_at);

-- The text in pieces, because a row of D1 holds at most 2 MB.
create table media_pieces (
  media_id text not null,
  position integer not null,
  tenant text not null,
  body text not null,
  primary key (media_id, position),
  foreign key (media_id) references media (id) on delete cascade
);

-- The turns that contain a medium. A medium without turns and addresses is deleted.
create table media_uses (
  media_id text not null,
  turn_id text not null,
  primary key (media_id, turn_id),
  foreign key (media_id) references media (id),
  foreign key (turn_id) references turns (id) on delete cascade
);

create index media_uses_by_turn on media_uses (turn_id);

-- The URLs that media were fetched from, so that a medium stays the same when the URL changes. The id
-- is a hash of owner and URL; the URL itself is not stored. Deleted with its user, and with the first
-- thread that it was fetched for.
create table media_addresses (
  id text not null primary key,
  tenant text not null,
  user_id text,
  thread text,
  media_id text not null,
  mime text not null,
  fetched_at bigint not null,
  used_at bigint not null,
  foreign key (media_id) references media (id)
);

create index media_addresses_by_media on media_addresses (media_id);

create index media_addresses_by_user on media_addresses (tenant, user_id) where user_id is not null;

create index media_addresses_by_thread on media_addresses (thread) where thread is not null;

create index media_addresses_by_use on media_addresses (used_at);
