-- Lists of chat completions are per user of a tenant.
drop index turns_by_chat;

create index turns_by_chat on turns (tenant, coalesce(user_id, ''), id) where dialect = 'chat';
