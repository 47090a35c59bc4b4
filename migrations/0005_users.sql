-- Users of one tenant see only what is theirs: each has a list of chat completions of its own.
drop index turns_by_chat;

create index turns_by_chat on turns (tenant, coalesce(user_id, ''), id) where dialect = 'chat';
