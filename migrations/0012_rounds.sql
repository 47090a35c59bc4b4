-- An answer with gateway tools takes several rounds, counted from 0, each with a request of its own. A
-- request is the difference to round `base_round` of turn `base`, which may be the same turn. Pieces of
-- a part are counted over all rounds.

alter table requests add column round integer not null default 0;

alter table requests add column base_round integer not null default 0;
