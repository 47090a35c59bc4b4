-- Images, recordings and files, each once for a tenant, however many of its turns show it. In the text
-- of an item stands the id in its place, which is told from the tenant and from what the medium is.
create table media (
  id text not null primary key,
  tenant text not null,
  mime text not null,
  -- How long it is as text: base64, for the most part.
  chars bigint not null,
  created_at bigint not null,
  used_at bigint not null
);

create index media_by_use on media (used_at);

-- Its text in pieces, because a row of D1 holds no more than 2 MB.
create table media_pieces (
  media_id text not null,
  position integer not null,
  tenant text not null,
  body text not null,
  primary key (media_id, position),
  foreign key (media_id) references media (id) on delete cascade
);

-- Which turns show it. A medium goes when there are none, and no address, any more.
create table media_uses (
  media_id text not null,
  turn_id text not null,
  primary key (media_id, turn_id),
  foreign key (media_id) references media (id),
  foreign key (turn_id) references turns (id) on delete cascade
);

create index media_uses_by_turn on media_uses (turn_id);

-- Where a medium was loaded from, so that the same is shown again though its address may have died.
-- The id is told from the owner and the address, which is not kept itself. It is forgotten with its
-- user, and with the thread that it was loaded for first.
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
