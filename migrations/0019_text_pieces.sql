-- Long texts are stored in pieces, because D1 limits a row to 2 MB. The column that such a text belongs
-- to contains the number of its pieces.

create table text_pieces (
  turn_id text not null,
  tenant text not null,
  -- Names the text within its turn, e.g. 'out-3' for the output item at position 3.
  text_name text not null,
  piece integer not null,
  body text not null,
  primary key (turn_id, text_name, piece),
  foreign key (turn_id, tenant) references turns (id, tenant) on delete cascade
);

-- Number of times that the model was requested for a background run, or was about to be.
alter table turns add column starts integer not null default 0;
