-- The idempotency keys of the last 24 hours. Only hashes are stored of a key and of the body that it was sent with.
create table idempotency_keys (
  -- A hash of the tenant, the user and the key.
  id text not null primary key,
  tenant text not null,
  user_id text,
  -- A hash of the key, the endpoint and the body.
  fingerprint text not null,
  -- The turn of the answer. It may not exist, because not every answer is stored.
  turn_id text not null,
  -- The replica that may still release the key; null once the key is used up.
  owner text,
  created_at bigint not null
);

create index idempotency_keys_by_time on idempotency_keys (created_at);

create index idempotency_keys_by_turn on idempotency_keys (turn_id);

create index idempotency_keys_by_user on idempotency_keys (tenant, user_id) where user_id is not null;
