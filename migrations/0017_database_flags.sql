-- States of the complete database. The row `all-encrypted` means that every text is encrypted and bound to
-- its user, so that texts in other formats are not trusted.
create table database_flags (
  name text not null primary key
);
