-- Facts about the complete database. The row `all-encrypted` says that each text was encrypted for its
-- user, so that other texts are not trusted any more.
create table database_flags (
  name text not null primary key
);
