-- What turns need to be read, listed and deleted as responses, conversations and completions.

-- How the model came to its end, and what it called itself: an answer that is read again says both.
alter table turns add column finish text;

alter table turns add column served_model text;

-- JSON: the larger fields of a request (tools, instructions, …), each by name with the digest of its
-- value. One that is here and not in `request` has the same value as in the parent's request.
alter table turns add column digests text;

-- The hash of everything said up to the turn's end, answer included. A client that sends its whole
-- history each time is told by it which turn it goes on from, so that only the news is stored.
alter table turns add column content_hash text;

create index turns_by_content on turns (content_hash) where content_hash is not null;

create index turns_by_conversation on turns (conversation) where conversation is not null;

-- Chat completions in the order in which they are listed: ids begin with the time.
create index turns_by_chat on turns (tenant, id) where dialect = 'chat';

create index conversations_by_head on conversations (head) where head is not null;

-- Of several items with one id the newest is wanted, and turn ids begin with the time.
drop index items_by_item_id;

create index items_by_item_id on items (tenant, item_id, turn_id) where item_id is not null;
