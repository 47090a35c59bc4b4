-- What was sent to an upstream for a turn, so that it can be explained afterwards. Of a text (part
-- 'body', 'items' or 'about') stands here what is different from the same text of the turn `base`:
-- it begins with `prefix` characters of that one and ends with `suffix` of them, and what comes in
-- between is `body`, in pieces. Without a base it is the whole text. `hops` counts the turns up to one
-- that has it whole. It goes with its turn.
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
