-- How long the lease or the lock lasts that ends at `alive_until` or `busy_until`, in milliseconds. A lease
-- that ends much later than this was written before the clock went back, and is over. Null for leases of
-- older replicas.
alter table replicas add column lease_ms bigint;

alter table conversations add column lease_ms bigint;
