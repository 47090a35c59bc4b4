-- The length, in milliseconds, of the lease that ends at `alive_until`, or of the lock that ends at
-- `busy_until`. One that ends later than its length from now was written before the clock went back, and
-- is over. Null for leases and locks of older replicas.
alter table replicas add column lease_ms bigint;

alter table conversations add column lease_ms bigint;
