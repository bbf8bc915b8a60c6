-- Up Migration

-- What the partner said that did not fit. Said again after an operator has dealt with it, it is nothing new.
alter table incident add column misfit jsonb;
-- The amount to which the partner has changed its order, once an operator has acknowledged it.
alter table attempt add column acknowledged_minor units check (acknowledged_minor > 0);
