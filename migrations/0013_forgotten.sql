-- Recent deletions. Data of a job that began before the deletion is not stored afterwards.
create table forgotten (
  tenant text not null,
  -- The id of a thread or conversation, or a digest of a user.
  name text not null,
  forgotten_at bigint not null,
  primary key (tenant, name)
);

create index forgotten_by_time on forgotten (forgotten_at);

-- From now on, unused media are marked, so that deletion does not search all media.
update media set used_at = -1
where not exists (select 1 from media_uses where media_uses.media_id = media.id)
and not exists (select 1 from media_addresses where media_addresses.media_id = media.id);
