-- What was forgotten lately, and when. Of what was begun before that, and is written later, nothing stays.
create table forgotten (
  tenant text not null,
  -- A thread or a conversation by its id, a user by a digest.
  name text not null,
  forgotten_at bigint not null,
  primary key (tenant, name)
);

create index forgotten_by_time on forgotten (forgotten_at);

-- Media that nobody shows any more are marked from now on, and are not looked for among all others.
update media set used_at = -1
where not exists (select 1 from media_uses where media_uses.media_id = media.id)
and not exists (select 1 from media_addresses where media_addresses.media_id = media.id);
