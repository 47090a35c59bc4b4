-- An answer may be asked for in several rounds, each with a request of its own, counted from 0. One is
-- told from the round `base_round` of the turn `base`, which may be the turn itself; what is not told
-- from any is whole. The pieces of a part are counted on from round to round.

alter table requests add column round integer not null default 0;

alter table requests add column base_round integer not null default 0;
