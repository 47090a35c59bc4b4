-- The requests that were sent to upstreams for a turn, so that they can be explained later. Each text
-- (part 'body', 'items' or 'about') is stored as the difference to the same text of the turn `base`: it
-- begins with `prefix` characters of that text and ends with `suffix` of them; the pieces in `body` come
-- in between. Without a base they are the complete text. `hops` counts the turns up to a complete one.
create table requests (
  turn_id text not null,
  tenant text not null,
  part text not null,
  piece integer not null,
  base text,
  hops integer not null,
  prefix integer not null,
  suffix integer not null,
  body text not null,
  primary key (turn_id, part, piece),
  foreign key (turn_id, tenant) references turns (id, tenant) on delete cascade
);
