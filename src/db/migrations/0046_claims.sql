-- Up Migration

-- A request whose effect is outside of the database claims its Idempotency-Key before, in a transaction of its own, and
-- stores its answer after. Set while there is no answer: the claim counts until then, and -infinity gives the key back.
alter table idempotency_key add column claimed_until timestamptz;
