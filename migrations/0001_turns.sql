-- Turns and their items, in the subset of SQL that SQLite, D1 and Postgres share. A statement ends
-- with a semicolon at the end of a line. Times are epoch milliseconds; JSON is text.

-- One answer of a model. The turns form a tree by `parent`, which is no foreign key, because an
-- ancestor may be deleted before its descendants.
create table turns (
  id text not null primary key,
  tenant text not null,
  user_id text,
  thread text not null,
  parent text,
  dialect text not null,
  wire text not null,
  account text not null,
  model text not null,
  prefix_hash text,
  state text not null,
  created_at bigint not null,
  ended_at bigint,
  usage text,
  failure text,
  request text not null,
  unique (id, tenant)
);

create index turns_by_thread on turns (tenant, thread);

create index turns_by_parent on turns (parent);

-- The new items before the answer (side 'in') and the items of the answer (side 'out'), in order. The
-- foreign key prevents writes to a turn that does not exist or belongs to another tenant.
create table items (
  turn_id text not null,
  tenant text not null,
  side text not null,
  position integer not null,
  item_id text,
  type text not null,
  call_id text,
  body text not null,
  primary key (turn_id, side, position),
  foreign key (turn_id, tenant) references turns (id, tenant) on delete cascade
);

create index items_by_call on items (tenant, call_id) where call_id is not null;

create index items_by_item_id on items (tenant, item_id) where item_id is not null;
