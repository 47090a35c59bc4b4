-- Columns and indexes for reading, listing and deleting stored responses, conversations and completions.

-- The finish reason and the name of the model according to the upstream, shown in stored answers.
alter table turns add column finish text;

alter table turns add column served_model text;

-- JSON: digests of the larger request fields (tools, instructions, …), by name. A field with a digest
-- that is missing in `request` has the same value as in the parent's request.
alter table turns add column digests text;

-- Hash of all items up to the end of the turn. It finds the parent of a request whose client sends its
-- complete history, so that only new items are stored.
alter table turns add column content_hash text;

create index turns_by_content on turns (content_hash) where content_hash is not null;

create index turns_by_conversation on turns (conversation) where conversation is not null;

-- Chat completions in the order in which they are listed: ids begin with the time.
create index turns_by_chat on turns (tenant, id) where dialect = 'chat';

create index conversations_by_head on conversations (head) where head is not null;

-- Queries want the latest of several items with one id; turn ids begin with the time.
drop index items_by_item_id;

create index items_by_item_id on items (tenant, item_id, turn_id) where item_id is not null;
